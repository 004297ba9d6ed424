"""A package that watches logins through Django's own signals and backends sees ours too."""

import pytest
from django.apps import apps

from tests.client import PASSWORD

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not apps.is_installed("axes"), reason="this host has no django-axes"),
]
LIMIT = 3
ANN = {"email": "ann@example.com"}


@pytest.fixture(autouse=True)
def _watched(api, settings):
    settings.AXES_FAILURE_LIMIT = LIMIT
    api.sign_up(username="ann")


def locked_out(api, **who):
    for _ in range(LIMIT):
        api.post("login", password="wrong", **who)
    return api.post("login", password=PASSWORD, **who).status == 401


def test_a_right_password_opens(api):
    assert api.post("login", password=PASSWORD, **ANN).status == 200


def test_failures_lock_an_address_of_the_network_out(api):
    assert locked_out(api, **ANN)


@pytest.mark.parametrize("who", [{"username": "ann"}, ANN])
def test_failures_lock_a_user_out_whatever_was_typed(api, settings, who):
    settings.AXES_LOCKOUT_PARAMETERS = ["username"]

    assert locked_out(api, **who)


def test_failures_by_one_identifier_lock_the_other_one_too(api, settings):
    settings.AXES_LOCKOUT_PARAMETERS = ["username"]
    locked_out(api, **ANN)

    assert api.post("login", username="ann", password=PASSWORD).status == 401
