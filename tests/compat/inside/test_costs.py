"""A refused login at the route of simplejwt does not reveal whether the user exists."""

import pytest

from tests.support.people import deactivate, make_user
from tests.support.statements import statements

pytestmark = pytest.mark.django_db


def test_refused_login_costs_the_same_for_known_and_unknown_users(client, ann):
    make_user("cid@example.com")
    deactivate("cid@example.com")
    client.obtain(username="first", password="wrong")
    known, unknown, inactive = (
        statements(lambda name=name: client.obtain(username=name, password="wrong"))
        for name in (ann.username, "nobody", "cid@example.com")
    )

    assert known == unknown == inactive
