"""An invited address without an account: accepting creates one, whose address is proven."""

import pytest

from authservice.core.models import Account, Session
from authservice.invitation.models import PlatformInvitation
from tests.invitation.invites import BOB
from tests.support.client import PASSWORD
from tests.support.flows import account
from tests.support.people import users

pytestmark = pytest.mark.django_db


def test_accept_creates_an_account_with_a_proven_address_and_signs_it_in(api, invites):
    accepted = invites.accept_as_new(invites.mailed())

    assert accepted.status == 200
    assert accepted.data["is_new_user"] is True
    assert accepted.data["expires_in"] == 900
    user = accepted.data["user"]
    assert (user["email"], user["name"], user["email_verified"]) == (BOB, "Bob", True)
    assert account(BOB).proven_email_key
    me = api.get("me", token=accepted.data["access_token"])
    assert me.data["id"] == user["id"]
    assert api.log_in(BOB)["user"]["id"] == user["id"]
    refreshed = api.post("refresh", refresh_token=accepted.data["refresh_token"])
    assert refreshed.status == 200


def test_accept_marks_the_invitation_as_accepted(invites):
    sent = invites.sent()

    invites.accept_as_new(invites.read())

    assert invites.status(sent) == "accepted"
    assert PlatformInvitation.objects.get().closed_at


def test_accept_keeps_the_address_as_the_sender_wrote_it(invites):
    accepted = invites.accept_as_new(invites.mailed("Bob@Example.com"))

    assert accepted.data["user"]["email"] == "Bob@Example.com"


@pytest.mark.parametrize("missing", ["name", "password"])
def test_accept_without_a_required_field_names_it_and_can_be_repeated(invites, missing):
    token = invites.mailed()

    refused = invites.accept_as_new(token, **{missing: ""})

    assert refused.error == (400, "VALIDATION_ERROR")
    assert refused.data["message"] == f"{missing}: This field is required."
    assert users() == 1
    assert invites.accept_as_new(token).status == 200


def test_accept_with_a_weak_password_is_refused_and_can_be_repeated(invites):
    token = invites.mailed()

    assert invites.accept_as_new(token, password="short").error == (400, "INVALID_PASSWORD")
    assert invites.accept_as_new(token, password="bob@example.com").code == "INVALID_PASSWORD"
    assert invites.accept_as_new(token).status == 200


def test_accept_ignores_fields_that_only_staff_may_set(invites):
    accepted = invites.accept_as_new(
        invites.mailed(),
        email="eve@example.com",
        is_super_admin=True,
        active=False,
        inviter_id="7",
        status="declined",
        username="root",
        phone_number="+4930123456",
    )

    assert accepted.data["user"]["email"] == BOB
    stored = account(BOB)
    assert not stored.is_super_admin
    assert (stored.phone_number, stored.active) == ("", True)


def test_accept_as_new_is_refused_where_every_account_needs_a_verified_number(invites, configure):
    token = invites.mailed()
    configure(CORE={"REQUIRE_PHONE_VERIFICATION": True})

    assert invites.accept_as_new(token).error == (403, "PHONE_NOT_VERIFIED")
    assert users() == 1


def test_accept_as_new_needs_no_further_verification(invites, configure):
    token = invites.mailed()
    configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})

    assert "access_token" in invites.accept_as_new(token).data


def test_accept_of_an_address_that_signed_up_meanwhile_joins_that_account(api, invites):
    token = invites.mailed()
    bob = api.sign_up(BOB)

    accepted = invites.accept(token)

    assert accepted.data["user"]["id"] == bob["user"]["id"]
    assert accepted.data["is_new_user"] is False


def test_refused_accept_leaves_no_account_and_no_session(invites):
    invites.accept_as_new(invites.mailed(), password="short")

    assert Account.objects.count() == 1
    assert Session.objects.count() == 1
    assert PASSWORD not in str(PlatformInvitation.objects.values())
