"""A client that is signed in to the invited account accepts without signing in again."""

import jwt
import pytest

from authservice.core.messages import kinds
from authservice.core.models import Session
from authservice.kernel.interfaces import SessionData
from authservice.kernel.modules import plugged
from tests.invitation.invites import BOB
from tests.support.client import PASSWORD
from tests.support.flows import account
from tests.support.people import the_user
from tests.twofactor.people import Person

pytestmark = pytest.mark.django_db


def claims(token):
    return jwt.decode(token, options={"verify_signature": False})


LATER = 15  # seconds: more than the leeway for a replaced token


def test_session_stays_and_the_refresh_token_that_is_sent_rotates(clock, api, invites, bob):
    clock.forward(minutes=5)
    refresh_token = bob["refresh_token"]

    accepted = invites.accept(
        invites.mailed(), bearer=bob["access_token"], refresh_token=refresh_token
    )

    before, after = claims(bob["access_token"]), claims(accepted.data["access_token"])
    assert (after["sid"], after["auth_time"]) == (before["sid"], before["auth_time"])
    assert after["jti"] != before["jti"]
    assert accepted.data["refresh_token"] != bob["refresh_token"]
    assert api.post("refresh", refresh_token=bob["refresh_token"]).code == "INVALID_REFRESH_TOKEN"
    assert api.post("refresh", refresh_token=accepted.data["refresh_token"]).status == 200
    assert accepted.data["is_new_user"] is False


@pytest.mark.parametrize("takes", [True, False])
def test_client_that_sends_no_refresh_token_can_refresh(clock, api, invites, bob, takes):
    accepted = invites.accept(invites.mailed(), bearer=bob["access_token"])
    clock.forward(seconds=LATER)

    tokens = accepted.data if takes else bob
    assert api.post("refresh", refresh_token=tokens["refresh_token"]).status == 200


def test_replaced_refresh_token_leaves_the_invitation_pending(api, invites, bob):
    token = invites.mailed()
    api.post("refresh", refresh_token=bob["refresh_token"])

    refused = invites.accept(token, bearer=bob["access_token"], refresh_token=bob["refresh_token"])

    assert refused.error == (401, "INVALID_REFRESH_TOKEN")
    assert invites.accept(token, bearer=bob["access_token"]).status == 200


def test_refresh_token_without_a_session_is_ignored(invites, bob):
    accepted = invites.accept(invites.mailed(), refresh_token="nonsense")

    assert claims(accepted.data["access_token"])["sid"] != claims(bob["access_token"])["sid"]


def test_module_withholds_the_refresh_token(clock, api, invites, bob):
    class Withholding(SessionData):
        def withholds_refresh(self):
            return True

    with plugged("session_data", Withholding()):
        accepted = invites.accept(invites.mailed(), bearer=bob["access_token"])
    clock.forward(seconds=LATER)

    assert "refresh_token" not in accepted.data
    assert api.post("refresh", refresh_token=bob["refresh_token"]).status == 200


def test_no_session_begins_and_no_login_is_recorded(invites, bob):
    before = Session.objects.count()

    invites.accept(invites.mailed(), bearer=bob["access_token"])

    assert Session.objects.count() == before


def test_refresh_token_stays_where_rotation_is_off(api, invites, bob, configure):
    configure(REFRESH_TOKEN_ROTATION=False)
    refresh_token = bob["refresh_token"]

    accepted = invites.accept(
        invites.mailed(), bearer=bob["access_token"], refresh_token=refresh_token
    )

    assert accepted.data["refresh_token"] == bob["refresh_token"]


def test_second_factor_is_not_asked_again(api, invites):
    bob = Person(api, BOB).sign_up()
    bob.enrol()

    accepted = invites.accept(invites.mailed(), bearer=bob.token)

    assert "access_token" in accepted.data


def test_nothing_is_wiped_on_the_unproven_account_of_the_caller(api, invites, post):
    bob = api.sign_up(BOB, phone_number="+4930123456")

    accepted = invites.accept(invites.mailed(), bearer=bob["access_token"])

    assert accepted.data["user"]["email_verified"] is True
    assert accepted.data["user"]["phone_number"] == "+4930123456"
    assert api.log_in(BOB, password=PASSWORD)
    assert kinds.ACCESS_WIPED not in post.kinds()
    assert account(BOB).proven_email_key


def test_token_of_another_account_is_not_used(api, invites, ann, bob):
    accepted = invites.accept(invites.mailed(), bearer=ann["access_token"])

    assert accepted.data["user"]["id"] == bob["user"]["id"]
    assert api.get("me", token=accepted.data["access_token"]).data["id"] == bob["user"]["id"]
    earlier = {claims(tokens["access_token"])["sid"] for tokens in (ann, bob)}
    assert claims(accepted.data["access_token"])["sid"] not in earlier
    assert api.post("refresh", refresh_token=ann["refresh_token"]).status == 200


def test_token_of_another_account_does_not_keep_unproven_access(api, invites, ann):
    api.sign_up(BOB)

    invites.accept(invites.mailed(), bearer=ann["access_token"])

    assert not the_user(BOB).has_usable_password()


def test_ended_session_is_not_continued(api, invites, bob):
    api.post("logout", token=bob["access_token"])

    accepted = invites.accept(invites.mailed(), bearer=bob["access_token"])

    assert claims(accepted.data["access_token"])["sid"] != claims(bob["access_token"])["sid"]


@pytest.mark.parametrize("bearer", ["nonsense", "x" * 9000])
def test_malformed_token_is_ignored(invites, bob, bearer):
    assert "access_token" in invites.accept(invites.mailed(), bearer=bearer).data
