"""authservice finds inactive users although the default manager of the host hides them."""

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command

from authservice.core.models import Account
from tests.support.client import PASSWORD

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(
        settings.AUTH_USER_MODEL != "hidden_inactive.User", reason="this host hides no users"
    ),
]


@pytest.fixture
def hidden(api):
    """The tokens of Ann, whom the manager `objects` hides."""
    tokens = api.sign_up(username="ann")
    get_user_model().all_users.update(is_active=False)
    assert not get_user_model().objects.exists()
    return tokens


def test_login_of_hidden_user_with_correct_password_is_user_not_active(api, hidden):
    answer = api.post("login", email="ann@example.com", password=PASSWORD)

    assert answer.error == (403, "USER_NOT_ACTIVE")


def test_hidden_user_has_no_valid_session(api, hidden):
    assert api.get("me", token=hidden["access_token"]).error == (401, "INVALID_TOKEN")
    refreshed = api.post("refresh", refresh_token=hidden["refresh_token"])
    assert refreshed.code == "INVALID_REFRESH_TOKEN"


@pytest.mark.parametrize(
    ("identifiers", "code"),
    [
        ({"email": "Ann@example.com"}, "USER_ALREADY_EXISTS"),
        ({"email": "bob@example.com", "username": "ANN"}, "USERNAME_ALREADY_EXISTS"),
    ],
)
def test_signup_with_identifier_of_hidden_user_is_refused(api, hidden, identifiers, code):
    assert api.post("signup", password=PASSWORD, **identifiers).code == code


def test_sync_creates_account_of_hidden_user(api, hidden):
    Account.objects.all().delete()

    call_command("authservice_sync_accounts", verbosity=0)

    assert Account.objects.count() == 1


def test_login_of_reactivated_hidden_user_succeeds(api, hidden):
    get_user_model().all_users.update(is_active=True)

    assert api.post("login", email="ann@example.com", password=PASSWORD).status == 200
