"""django-axes, which uses signals and backends of Django, also limits logins of authservice."""

import pytest
from django.apps import apps

from tests.support.client import PASSWORD

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not apps.is_installed("axes"), reason="this host has no django-axes"),
]
LIMIT = 3
ANN = {"email": "ann@example.com"}


@pytest.fixture(autouse=True)
def _limited(api, settings):
    settings.AXES_FAILURE_LIMIT = LIMIT
    api.sign_up(username="ann")


def locked_out(api, **identifier):
    for _ in range(LIMIT):
        api.post("login", password="wrong", **identifier)
    return api.post("login", password=PASSWORD, **identifier).status == 401


def test_login_with_axes_succeeds(api):
    assert api.post("login", password=PASSWORD, **ANN).status == 200


def test_axes_locks_out_ip_address_after_failures(api):
    assert locked_out(api, **ANN)


@pytest.mark.parametrize("identifier", [{"username": "ann"}, ANN])
def test_axes_locks_out_user_by_either_identifier(api, settings, identifier):
    settings.AXES_LOCKOUT_PARAMETERS = ["username"]

    assert locked_out(api, **identifier)


def test_axes_lockout_by_one_identifier_includes_the_other(api, settings):
    settings.AXES_LOCKOUT_PARAMETERS = ["username"]
    locked_out(api, **ANN)

    assert api.post("login", username="ann", password=PASSWORD).status == 401
