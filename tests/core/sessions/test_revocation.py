"""Changes that end a session from outside take effect on the next request."""

import pytest
from django.contrib.auth.hashers import make_password
from django.db.models import F

from authservice.core.api.endpoint import Endpoint
from authservice.core.models import Account, Session
from tests.support.client import PASSWORD
from tests.support.needs import stateless_login
from tests.support.people import change, make_user, the_user

pytestmark = pytest.mark.django_db

REFUSED = (401, "INVALID_TOKEN")
CHANGES = {
    "profile": {"name": "Anna", "phone": "+4930123456"},
    "change-password": {"old_password": PASSWORD, "new_password": "quince jelly 17 shutters"},
}


def set_in_a_shell():
    user = the_user()
    user.set_password("another plum tart 42")
    user.save()


def updated_by_a_query():
    change(password=make_password("another plum tart 42"))


def same_password_hashed_again():
    change(password=make_password(PASSWORD))


def made_unusable():
    change(password=make_password(None))


def version_raised():
    Account.objects.filter(user=the_user()).update(token_version=F("token_version") + 1)


def deactivated():
    change(is_active=False)


def row_ended():
    Session.objects.filter(user=the_user()).update(ended_at=F("created_at"))


def row_deleted():
    Session.objects.filter(user=the_user()).delete()


def user_deleted():
    the_user().delete()


def factor_enabled():
    Account.objects.filter(user=the_user()).update(factor_version=F("factor_version") + 1)


ENDS = [
    set_in_a_shell,
    updated_by_a_query,
    same_password_hashed_again,
    made_unusable,
    version_raised,
    deactivated,
    row_ended,
    row_deleted,
    user_deleted,
    factor_enabled,
]


@pytest.fixture
def sessions(api):
    api.sign_up()
    return [api.log_in(), api.log_in()]


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
def test_revocation_refuses_every_access_token(api, sessions, end):
    end()

    assert [api.get("me", token=one["access_token"]).error for one in sessions] == [REFUSED] * 2


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
def test_revocation_refuses_every_refresh_token(api, sessions, end):
    end()

    answers = [api.post("refresh", refresh_token=one["refresh_token"]) for one in sessions]

    assert [answer.error for answer in answers] == [(401, "INVALID_REFRESH_TOKEN")] * 2


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
def test_revocation_refuses_a_logout(api, sessions, end):
    end()

    assert api.post("logout", token=sessions[0]["access_token"]).error == REFUSED


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
def test_revocation_refuses_a_request_that_has_begun(api, sessions, end, monkeypatch):
    identify = Endpoint._identify

    def identify_and_end(endpoint, request):
        identify(endpoint, request)
        end()

    monkeypatch.setattr(Endpoint, "_identify", identify_and_end)

    assert api.post("logout", token=sessions[0]["access_token"]).error == REFUSED


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
def test_revocation_keeps_the_sessions_of_another_user(api, sessions, end):
    other = api.sign_up("ben@example.com")["access_token"]

    end()

    assert api.get("me", token=other).status == 200


def test_sessions_of_a_user_who_is_active_again_are_valid_again(api, sessions):
    deactivated()
    change(is_active=True)

    assert api.get("me", token=sessions[0]["access_token"]).status == 200


def test_sessions_of_a_deleted_user_are_invalid_for_a_new_user_with_the_same_key(api, sessions):
    key = the_user().pk
    the_user().delete()
    make_user(pk=key)

    assert api.get("me", token=sessions[0]["access_token"]).error == REFUSED


def test_save_without_a_changed_password_ends_no_session(api, sessions):
    the_user().save()

    assert api.get("me", token=sessions[0]["access_token"]).status == 200


@stateless_login
def test_signature_check_accepts_a_token_after_a_changed_password(api, configure, sessions):
    configure(STATELESS={"CHECK": "signature"})
    set_in_a_shell()

    assert api.get("me", token=sessions[0]["access_token"]).status == 200


@stateless_login
@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
def test_signature_check_refuses_changes_of_an_ended_session(api, configure, sessions, end):
    configure(STATELESS={"CHECK": "signature"})
    end()
    token = sessions[0]["access_token"]

    for path, body in CHANGES.items():
        assert api.request("PUT", path, body, token=token).error == REFUSED


@stateless_login
def test_signature_check_refuses_a_refresh_of_an_ended_session(api, configure, sessions):
    configure(STATELESS={"CHECK": "signature"})
    set_in_a_shell()

    answer = api.post("refresh", refresh_token=sessions[0]["refresh_token"])

    assert answer.error == (401, "INVALID_REFRESH_TOKEN")


@stateless_login
def test_signature_check_refuses_a_deleted_user(api, configure, sessions):
    configure(STATELESS={"CHECK": "signature"})
    user_deleted()

    assert api.get("me", token=sessions[0]["access_token"]).error == REFUSED
