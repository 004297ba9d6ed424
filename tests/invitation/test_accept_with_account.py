"""An invited address with an account: the token signs in through the one door."""

import pytest

from authservice.core.messages import kinds
from authservice.core.models import Account, Session
from tests.invitation.invites import BOB
from tests.support.client import PASSWORD
from tests.support.flows import account, prove
from tests.support.people import change, deactivate, the_user, users
from tests.twofactor.people import Person

pytestmark = pytest.mark.django_db


def test_accept_signs_in_the_account_of_the_address(api, invites, bob):
    accepted = invites.accept(invites.mailed())

    assert accepted.status == 200
    assert accepted.data["is_new_user"] is False
    assert accepted.data["user"]["id"] == bob["user"]["id"]
    assert api.get("me", token=accepted.data["access_token"]).data["email"] == BOB
    assert users() == 2


def test_accept_ignores_name_and_password_of_an_account(api, invites, bob):
    before = the_user(BOB).password

    accepted = invites.accept(invites.mailed(), name="Eve", password="another 77 plum boats")

    assert accepted.data["user"]["name"] == ""
    assert the_user(BOB).password == before
    assert api.log_in(BOB, password=PASSWORD)


def test_accept_finds_the_account_whatever_the_case_of_the_invited_address(invites, bob):
    accepted = invites.accept(invites.mailed("BOB@Example.COM"))

    assert accepted.data["user"]["id"] == bob["user"]["id"]


def test_accept_of_an_inactive_account_is_refused_and_changes_nothing(invites, bob):
    sent = invites.sent()
    token = invites.read()
    deactivate(BOB)

    assert invites.accept(token).error == (403, "USER_NOT_ACTIVE")
    assert invites.status(sent) == "pending"
    change(BOB, is_active=True)
    assert invites.accept(token).status == 200


def test_accept_asks_for_the_second_factor(api, invites):
    bob = Person(api, BOB).sign_up()
    prove(BOB)
    bob.enrol()
    sent = invites.sent()

    answer = invites.accept(invites.read())

    assert answer.status == 200
    assert "access_token" not in answer.data
    [challenge] = answer.data["challenges"]
    assert challenge["type"] == "2fa"
    assert invites.status(sent) == "accepted"


def test_second_factor_after_an_accept_signs_in(clock, api, invites):
    bob = Person(api, BOB).sign_up()
    prove(BOB)
    bob.enrol()
    clock.forward(seconds=30)
    temp_token = invites.accept(invites.mailed()).data["challenges"][0]["data"]["temp_token"]

    assert bob.verify_login(bob.code(), temp_token).status == 200


def test_accept_removes_unproven_access_first(api, invites, post):
    """Eve signed up with the address of Bob, and set a password, a number and a factor."""
    eve = Person(api, BOB).sign_up()
    api.request("PUT", "profile", {"phone": "+4930123456"}, token=eve.token)
    eve.enrol()
    post.jobs.clear()

    accepted = invites.accept(invites.mailed())

    assert accepted.data["user"]["email_verified"] is True
    assert accepted.data["user"]["phone_number"] == ""
    assert api.get("me", token=eve.token).status == 401
    assert api.post("login", email=BOB, password=PASSWORD).code == "INVALID_CREDENTIALS"
    assert not the_user(BOB).has_usable_password()
    assert kinds.ACCESS_WIPED in post.kinds()
    assert Session.objects.filter(user__pk=the_user(BOB).pk, ended_at=None).count() == 1


def test_accept_removes_nothing_if_wiping_is_off(api, invites, configure):
    configure(CORE={"WIPE_UNPROVEN": False})
    api.sign_up(BOB)

    invites.accept(invites.mailed())

    assert api.log_in(BOB)["user"]["email_verified"] is True


def test_refused_accept_leaves_unproven_access_in_place(api, invites, configure):
    bob = api.sign_up(BOB)
    token = invites.mailed()
    configure(CORE={"REQUIRE_PHONE_VERIFICATION": True})

    assert invites.accept(token).error == (403, "PHONE_NOT_VERIFIED")
    assert account(BOB).proven_email_key == ""
    assert api.get("me", token=bob["access_token"]).status == 200


def test_accept_of_an_unverified_account_needs_no_other_verification(api, invites, configure):
    api.sign_up(BOB)
    token = invites.mailed()
    configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})

    assert "access_token" in invites.accept(token).data


def test_accept_after_the_account_changed_its_address_creates_another(invites, bob):
    """The invitation is one of the address, not of the account that had it."""
    token = invites.mailed()
    change(BOB, email="robert@example.com")

    accepted = invites.accept_as_new(token)

    assert accepted.data["is_new_user"] is True
    assert Account.objects.count() == 3


def move_bob(attempt):
    """A `CORE.LOGIN_HOOK_PREPARE`: the project changes the address of the account meanwhile."""
    if attempt.user.pk:
        change(BOB, email="moved@example.com")


def admit(attempt):
    """A `CORE.LOGIN_HOOK`: it admits everybody."""


def test_account_whose_address_changes_meanwhile_does_not_accept(invites, bob, configure):
    here = f"{__name__}."
    configure(CORE={"LOGIN_HOOK": here + "admit", "LOGIN_HOOK_PREPARE": here + "move_bob"})

    proven = Account.objects.get(pk=bob["user"]["id"]).proven_email_key
    sessions = Session.objects.filter(user=bob["user"]["id"]).count()

    accepted = invites.accept_as_new(invites.mailed())

    assert accepted.data["is_new_user"] is True
    assert accepted.data["user"]["id"] != bob["user"]["id"]
    assert Account.objects.get(pk=bob["user"]["id"]).proven_email_key == proven
    assert Session.objects.filter(user=bob["user"]["id"]).count() == sessions
