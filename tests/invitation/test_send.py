"""Sending an invitation: its fields, and what is refused."""

from datetime import timedelta

import pytest

from authservice.invitation.models import PlatformInvitation
from tests.invitation.invites import BOB, lifetime
from tests.support.people import the_user

pytestmark = pytest.mark.django_db

INVALID = (400, "VALIDATION_ERROR")


def test_sent_invitation_is_pending_for_seven_days(api, invites, clock):
    invites.token = api.log_in()["access_token"]

    answer = invites.send(metadata='{"plan": "gold"}')

    assert answer.status == 201
    assert lifetime(answer) == timedelta(days=7)
    assert answer.data == {
        "id": str(PlatformInvitation.objects.get().pk),
        "email": BOB,
        "purpose": "platform",
        "inviter_id": str(the_user().pk),
        "status": "pending",
        "created_at": answer.data["created_at"],
        "expires_at": answer.data["expires_at"],
        "metadata": '{"plan": "gold"}',
        "mailed": True,
    }


def test_lifetime_is_a_setting(api, invites, invitation, clock):
    invites.token = api.log_in()["access_token"]
    invitation(TTL=3600)

    assert lifetime(invites.send()) == timedelta(hours=1)


@pytest.mark.parametrize("purpose", ["", None])
def test_purpose_is_platform_by_default(invites, purpose):
    body = {} if purpose is None else {"purpose": purpose}

    assert invites.send(**body).data["purpose"] == "platform"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("email", ""),
        ("email", "bob"),
        ("email", 7),
        ("email", '"bob"@example.com'),
        ("email", "bob@localhost"),
        ("purpose", "x" * 65),
        ("purpose", 7),
        ("purpose", "a\nb"),
        ("metadata", "no JSON"),
        ("metadata", "[NaN]"),
        ("metadata", "[" * 4000),
        ("metadata", {"plan": "gold"}),
        ("metadata", '"' + "x" * 2048 + '"'),
        ("metadata", '"a\x07"'),
    ],
)
def test_malformed_field_is_refused_by_name(invites, field, value):
    answer = invites.send(**{"email": BOB, field: value})

    assert answer.error == INVALID
    assert answer.data["message"].startswith(f"{field}: ")


def test_metadata_is_returned_as_it_was_sent(invites):
    text = '{"plan":\n\t"gold"}'

    assert invites.send(metadata=text).data["metadata"] == text


def test_purpose_that_is_not_allowed_is_refused(invites, invitation):
    invitation(ALLOWED_PURPOSES=["beta", "partner"])

    refused = invites.send()

    assert refused.error == INVALID
    assert refused.data["message"] == "purpose: Must be one of beta, partner."
    assert invites.send(purpose="beta").status == 201


def test_second_pending_invitation_of_one_purpose_is_refused(invites, no_floods):
    invites.sent()

    assert invites.send("BOB@example.com").error == (409, "INVITATION_ALREADY_EXISTS")
    assert invites.send(purpose="partner").status == 201
    assert invites.send("carol@example.com").status == 201


def test_other_sender_may_invite_the_same_address(api, invites):
    invites.sent()
    invites.token = api.sign_up("carol@example.com")["access_token"]

    assert invites.send().status == 201


def test_pending_invitations_of_an_address_are_limited(api, invites, invitation, clock, no_floods):
    invites.token = api.log_in()["access_token"]
    invitation(MAX_PENDING_PER_EMAIL=2)
    invites.sent()
    first = invites.sent(purpose="beta")
    invites.token = api.sign_up("carol@example.com")["access_token"]

    assert invites.send("Bob@Example.com").error == (403, "INVITATION_MAX_PENDING")
    assert invites.send("dave@example.com").status == 201
    invites.cancel(first, token=api.log_in()["access_token"])
    assert invites.send().status == 201
    clock.forward(days=7)
    invites.token = api.log_in("carol@example.com")["access_token"]
    assert invites.send().status == 201


def test_body_does_not_choose_sender_status_or_expiry(invites, bob):
    answer = invites.send(
        "carol@example.com",
        id="7",
        inviter_id=bob["user"]["id"],
        inviter=bob["user"]["id"],
        status="accepted",
        expires_at="2999-01-01T00:00:00Z",
        token_digest="x",
    )

    stored = PlatformInvitation.objects.get()
    assert (stored.inviter_id, stored.status) == (the_user().pk, "pending")
    assert stored.expires_at.year < 2999
    assert answer.data["id"] == str(stored.pk)


def test_invitation_needs_a_signed_in_user(api):
    assert api.post("invitations", email=BOB).error == (401, "UNAUTHORIZED")


def test_fifty_invitations_a_day_may_be_sent(api, invites, clock):
    invites.token = api.log_in()["access_token"]
    for number in range(50):
        invites.sent(f"bob{number}@example.com")

    refused = invites.send("one-more@example.com")

    assert refused.error == (429, "TOO_MANY_REQUESTS")
    assert 0 < int(refused.headers["Retry-After"]) <= 86401
    assert PlatformInvitation.objects.count() == 50
    clock.forward(days=1, seconds=1)
    invites.token = api.log_in()["access_token"]
    assert invites.send("one-more@example.com").status == 201


def test_refused_invitation_does_not_count(api, invites, clock):
    invites.token = api.log_in()["access_token"]
    invites.sent()
    for _ in range(60):
        invites.send()

    assert invites.send("carol@example.com").status == 201
