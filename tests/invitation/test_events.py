"""Signals and events of invitations, after the commit and without a secret."""

import pytest

from authservice import signals
from tests.invitation.invites import BOB
from tests.support.people import the_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def notified(received):
    return {
        name: received(getattr(signals, f"invitation_{name}"))
        for name in ("sent", "accepted", "declined", "cancelled")
    }


def names(notified):
    return [name for name, events in notified.items() for _ in events]


def test_each_step_sends_its_signal(notified, invites, no_floods):
    sent = invites.sent()
    invites.resend(sent)
    invites.accept_as_new(invites.read())

    assert names(notified) == ["sent", "sent", "accepted"]
    first, again = notified["sent"]
    expected = {"invitation": sent, "email": BOB, "purpose": "platform"}
    assert dict(first.metadata) == expected
    assert dict(again.metadata) == {**expected, "again": True}
    [accepted] = notified["accepted"]
    assert dict(accepted.metadata) == expected
    assert (accepted.user.pk, accepted.target.pk) == (the_user(BOB).pk, the_user().pk)


def test_decline_names_the_account_of_the_address_if_there_is_one(notified, invites, bob):
    invites.decline(invites.mailed("carol@example.com"))
    invites.decline(invites.mailed())

    without, with_account = notified["declined"]
    assert (without.user, with_account.user.pk) == (None, the_user(BOB).pk)


def test_cancellation_sends_its_signal(notified, invites):
    invites.cancel(invites.sent())

    assert names(notified) == ["sent", "cancelled"]


def test_refused_answers_send_none(notified, invites):
    token = invites.mailed()
    invites.accept(token)
    invites.accept_as_new(token, password="short")
    invites.decline("x" * 43)

    assert names(notified) == ["sent"]


def test_resend_past_the_limit_sends_none(notified, invites):
    sent = invites.sent()
    invites.resend(sent)

    assert names(notified) == ["sent"]
