"""No request of authservice runs in one transaction, even if the host sets `ATOMIC_REQUESTS`."""

import pytest
from django.db import connections

from authservice.core.credentials import passwords
from tests.support.client import PASSWORD
from tests.support.people import make_user
from tests.support.routes import endpoints


@pytest.mark.parametrize(("path", "view"), list(endpoints()), ids=[p for p, _ in endpoints()])
def test_a_view_is_atomic_on_no_database(path, view):
    assert view._non_atomic_requests == set(connections)


@pytest.mark.django_db(transaction=True)
def test_password_is_checked_outside_of_any_transaction(api, monkeypatch):
    connection, inside = connections["default"], []
    monkeypatch.setitem(connection.settings_dict, "ATOMIC_REQUESTS", True)
    check = passwords.check

    def watched(*arguments):
        inside.append(connection.in_atomic_block)
        return check(*arguments)

    monkeypatch.setattr(passwords, "check", watched)
    make_user("ann@example.com")

    api.post("login", email="ann@example.com", password=f"wrong {PASSWORD}")

    assert inside == [False]
