"""A host whose default manager hides inactive users has them all the same."""

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command

from authservice.core.models import Account
from tests.client import PASSWORD

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(
        settings.AUTH_USER_MODEL != "hidden_inactive.User", reason="this host hides nobody"
    ),
]


@pytest.fixture
def hidden(api):
    """Ann, whom `objects` does not show any more; her tokens."""
    tokens = api.sign_up(username="ann")
    get_user_model().everybody.update(is_active=False)
    assert not get_user_model().objects.exists()
    return tokens


def test_a_hidden_user_is_told_so_by_the_right_password(api, hidden):
    answer = api.post("login", email="ann@example.com", password=PASSWORD)

    assert answer.error == (403, "USER_NOT_ACTIVE")


def test_a_hidden_user_keeps_no_sign_in(api, hidden):
    assert api.get("me", token=hidden["access_token"]).error == (401, "INVALID_TOKEN")
    refreshed = api.post("refresh", refresh_token=hidden["refresh_token"])
    assert refreshed.code == "INVALID_REFRESH_TOKEN"


@pytest.mark.parametrize(
    ("who", "code"),
    [
        ({"email": "Ann@example.com"}, "USER_ALREADY_EXISTS"),
        ({"email": "bob@example.com", "username": "ANN"}, "USERNAME_ALREADY_EXISTS"),
    ],
)
def test_what_a_hidden_user_has_is_taken(api, hidden, who, code):
    assert api.post("signup", password=PASSWORD, **who).code == code


def test_a_hidden_user_gets_an_account_in_the_sync(api, hidden):
    Account.objects.all().delete()

    call_command("authservice_sync_accounts", verbosity=0)

    assert Account.objects.count() == 1


def test_a_user_who_is_active_again_is_in_again(api, hidden):
    get_user_model().everybody.update(is_active=True)

    assert api.post("login", email="ann@example.com", password=PASSWORD).status == 200
