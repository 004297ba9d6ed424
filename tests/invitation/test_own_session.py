"""A client that is signed in to the invited account accepts without signing in again."""

import jwt
import pytest

from authservice.core.models import Session
from authservice.kernel import message_queue
from tests.invitation.invites import BOB
from tests.support.client import PASSWORD
from tests.support.flows import account
from tests.support.people import the_user
from tests.twofactor.people import Person

pytestmark = pytest.mark.django_db


def claims(token):
    return jwt.decode(token, options={"verify_signature": False})


def test_session_stays_and_its_refresh_token_rotates(clock, api, invites, bob):
    clock.forward(minutes=5)

    accepted = invites.accept(invites.mailed(), bearer=bob["access_token"])

    before, after = claims(bob["access_token"]), claims(accepted.data["access_token"])
    assert (after["sid"], after["auth_time"]) == (before["sid"], before["auth_time"])
    assert after["jti"] != before["jti"]
    assert accepted.data["refresh_token"] != bob["refresh_token"]
    assert api.post("refresh", refresh_token=bob["refresh_token"]).code == "INVALID_REFRESH_TOKEN"
    assert api.post("refresh", refresh_token=accepted.data["refresh_token"]).status == 200
    assert accepted.data["is_new_user"] is False


def test_no_session_begins_and_no_login_is_recorded(invites, bob):
    before = Session.objects.count()

    invites.accept(invites.mailed(), bearer=bob["access_token"])

    assert Session.objects.count() == before


def test_refresh_token_stays_where_rotation_is_off(api, invites, bob, configure):
    configure(REFRESH_TOKEN_ROTATION=False)

    accepted = invites.accept(invites.mailed(), bearer=bob["access_token"])

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
    assert message_queue.ACCESS_WIPED not in post.kinds()
    assert account(BOB).proven_email_key


def test_token_of_another_account_is_not_used(api, invites, ann, bob):
    accepted = invites.accept(invites.mailed(), bearer=ann["access_token"])

    assert accepted.data["user"]["id"] == bob["user"]["id"]
    assert claims(accepted.data["access_token"])["sid"] != claims(bob["access_token"])["sid"]
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
