"""What ends a sign-in from outside: it is felt on the very next request."""

import pytest
from django.contrib.auth.hashers import make_password
from django.db.models import F

from authservice.core.models import Account, Session
from authservice.kernel.http.views import Endpoint
from tests.client import PASSWORD
from tests.people import change, make_user, the_user

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


def same_password_hashed_anew():
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
    same_password_hashed_anew,
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
def test_every_access_token_is_refused(api, sessions, end):
    end()

    assert [api.get("me", token=one["access_token"]).error for one in sessions] == [REFUSED] * 2


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
def test_every_refresh_token_is_refused(api, sessions, end):
    end()

    answers = [api.post("refresh", refresh_token=one["refresh_token"]) for one in sessions]

    assert [answer.error for answer in answers] == [(401, "INVALID_REFRESH_TOKEN")] * 2


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
def test_a_logout_is_refused_too(api, sessions, end):
    end()

    assert api.post("logout", token=sessions[0]["access_token"]).error == REFUSED


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
def test_a_request_on_its_way_is_refused_too(api, sessions, end, monkeypatch):
    identify = Endpoint._identify

    def identify_and_end(endpoint, request):
        identify(endpoint, request)
        end()

    monkeypatch.setattr(Endpoint, "_identify", identify_and_end)

    assert api.post("logout", token=sessions[0]["access_token"]).error == REFUSED


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
def test_another_user_is_not_touched_by_it(api, sessions, end):
    other = api.sign_up("ben@example.com")["access_token"]

    end()

    assert api.get("me", token=other).status == 200


def test_a_user_who_is_active_again_has_their_sign_ins_back(api, sessions):
    deactivated()
    change(is_active=True)

    assert api.get("me", token=sessions[0]["access_token"]).status == 200


def test_a_user_made_anew_with_the_same_key_has_none_of_the_old_sign_ins(api, sessions):
    key = the_user().pk
    the_user().delete()
    make_user(pk=key)

    assert api.get("me", token=sessions[0]["access_token"]).error == REFUSED


def test_a_save_that_changes_no_password_ends_nothing(api, sessions):
    the_user().save()

    assert api.get("me", token=sessions[0]["access_token"]).status == 200


def test_where_the_signature_is_trusted_a_token_lives_until_it_expires(api, configure, sessions):
    configure(STATELESS={"CHECK": "signature"})
    set_in_a_shell()

    assert api.get("me", token=sessions[0]["access_token"]).status == 200


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
def test_where_the_signature_is_trusted_what_changes_something_is_refused(
    api, configure, sessions, end
):
    configure(STATELESS={"CHECK": "signature"})
    end()
    token = sessions[0]["access_token"]

    for path, body in CHANGES.items():
        assert api.request("PUT", path, body, token=token).error == REFUSED


def test_where_the_signature_is_trusted_a_refresh_is_checked_all_the_same(api, configure, sessions):
    configure(STATELESS={"CHECK": "signature"})
    set_in_a_shell()

    answer = api.post("refresh", refresh_token=sessions[0]["refresh_token"])

    assert answer.error == (401, "INVALID_REFRESH_TOKEN")


def test_where_the_signature_is_trusted_a_deleted_user_is_refused(api, configure, sessions):
    configure(STATELESS={"CHECK": "signature"})
    user_deleted()

    assert api.get("me", token=sessions[0]["access_token"]).error == REFUSED
