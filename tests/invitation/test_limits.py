"""Limits on the mails of invitations, and that the signed-in sender sees each of them."""

from dataclasses import replace
from datetime import timedelta

import pytest

from authservice import signals
from authservice.core.messages import limits
from authservice.core.models import Account
from authservice.invitation import platform_invitations
from authservice.invitation.models import PlatformInvitation
from authservice.invitation.platform_invitations import KIND
from authservice.kernel.client import Client
from authservice.kernel.errors import TooManyRequests
from tests.invitation.invites import BOB, Invites
from tests.support.flows import prove
from tests.support.people import the_user

pytestmark = pytest.mark.django_db

LIMITED = (429, "TOO_MANY_REQUESTS")
DAY = timedelta(days=1)


def mails(post, to=BOB):
    return [job.target for job in post.jobs if job.kind == KIND].count(to)


@pytest.fixture
def sender(api, post, configure):
    """`sender(1)` sends invitations; `proven` and `old` say which account it has."""
    configure(THROTTLE={"RATES": {"signup": "9999/h"}})

    def make(number, *, proven=True, old=True):
        email = f"sender{number}@example.com"
        token = api.sign_up(email)["access_token"]
        if proven:
            prove(email)
        if old:
            account = Account.objects.get(email=email)
            account.created_at -= timedelta(days=1, minutes=1)
            account.save(update_fields=["created_at"])
        return Invites(api, post, token)

    return make


@pytest.mark.parametrize("between", ["cancel", "decline", "resend", "purpose"])
def test_sender_mails_a_recipient_once_a_day(invites, post, between):
    sent = invites.sent()
    if between == "decline":
        invites.decline(invites.read())
    elif between == "cancel":
        invites.cancel(sent)

    if between == "resend":
        refused = invites.resend(sent)
    else:
        refused = invites.send("BOB@Example.com", purpose="beta")

    assert refused.error == LIMITED
    assert 86300 < int(refused.headers["Retry-After"]) <= 86401
    assert mails(post) == 1
    assert PlatformInvitation.objects.count() == 1


def test_sender_mails_a_recipient_again_on_the_next_day(api, invites, post, clock):
    invites.token = api.log_in()["access_token"]
    sent = invites.sent()
    clock.forward(days=1, seconds=1)
    invites.token = api.log_in()["access_token"]

    again = invites.resend(sent)

    assert (again.status, again.data["mailed"]) == (200, True)
    assert mails(post) == 2


def test_limit_of_a_recipient_does_not_concern_others(invites):
    invites.sent()

    assert invites.send("carol@example.com").status == 201


@pytest.mark.parametrize(
    ("kind", "amount"),
    [
        ({"proven": False}, limits.NEW_SENDERS.amount),
        ({"old": False}, limits.NEW_SENDERS.amount),
        ({}, limits.INVITATION_MAILS.amount),
    ],
)
def test_senders_share_the_mails_of_a_recipient(sender, post, kind, amount):
    for number in range(amount):
        answer = sender(number, **kind).send()
        assert (answer.status, answer.data["mailed"]) == (201, True)
        assert "message" not in answer.data

    beyond = sender(amount, **kind).send()

    assert (beyond.status, beyond.data["status"]) == (201, "pending")
    assert beyond.data["mailed"] is False
    assert "no e-mail was sent" in beyond.data["message"]
    assert mails(post) == amount


def test_half_of_the_mails_of_a_recipient_are_for_other_than_new_senders(sender, post):
    for number in range(limits.NEW_SENDERS.amount + 1):
        sender(number, old=False).send()

    assert sender("honest").send().data["mailed"] is True
    assert limits.NEW_SENDERS.amount * 2 == limits.INVITATION_MAILS.amount


def test_resend_within_the_day_leaves_the_earlier_link_as_it_is(invites):
    sent = invites.sent()
    token = invites.read()

    assert invites.resend(sent).error == LIMITED

    assert invites.accept_as_new(token).status == 200


def test_resend_says_that_the_recipient_gets_no_more(sender, api, post, clock, notified_sent):
    honest = sender("honest", old=False)
    sent = honest.sent()
    token = honest.read()
    clock.forward(days=2)
    for number in range(limits.INVITATION_MAILS.amount):
        sender(number).send()
    honest.token = api.log_in("senderhonest@example.com")["access_token"]
    before, row = len(notified_sent), PlatformInvitation.objects.get(pk=sent)

    answer = honest.resend(sent)

    assert (answer.status, answer.data["mailed"]) == (200, False)
    assert "no e-mail was sent" in answer.data["message"]
    assert len(notified_sent) == before
    assert PlatformInvitation.objects.get(pk=sent).expires_at == row.expires_at
    assert honest.accept_as_new(token).status == 200


@pytest.fixture
def notified_sent(received):
    return received(signals.invitation_sent)


def test_mail_that_was_not_sent_does_not_count_for_its_sender(sender, api, clock):
    for number in range(limits.NEW_SENDERS.amount):
        sender(number, old=False).send()
    late = sender("late", proven=False)
    sent = late.send()
    assert sent.data["mailed"] is False
    prove("senderlate@example.com")

    assert late.resend(sent.data["id"]).data["mailed"] is True


def test_mail_that_was_not_sent_does_not_count_for_new_senders(sender, clock):
    """The day of all senders ends before that of new ones, who began later."""
    for number in range(limits.INVITATION_MAILS.amount):
        sender(number).send()
    clock.forward(hours=23)
    for number in range(limits.NEW_SENDERS.amount):
        assert sender(f"early{number}", old=False).send().data["mailed"] is False
    clock.forward(hours=1, seconds=1)

    assert sender("late", old=False).send().data["mailed"] is True


def test_invitation_without_a_mail_is_recorded_as_such(sender, notified_sent):
    for number in range(limits.NEW_SENDERS.amount + 1):
        sender(number, old=False).send()

    assert notified_sent[-1].metadata["mailed"] is False
    assert "mailed" not in notified_sent[0].metadata


def test_staff_have_a_limit_of_their_own(invites, post, bob, django_capture_on_commit_callbacks):
    invites.sent("carol@example.com")

    with django_capture_on_commit_callbacks(execute=True):
        platform_invitations.resend_by_staff(
            PlatformInvitation.objects.get(), the_user(BOB), Client()
        )

    assert mails(post, "carol@example.com") == 2


def test_staff_see_that_the_recipient_gets_no_more_today(invites, post, bob, monkeypatch):
    monkeypatch.setattr(limits, "NEW_SENDERS", replace(limits.NEW_SENDERS, amount=1))
    invites.sent("carol@example.com")

    with pytest.raises(TooManyRequests):
        platform_invitations.resend_by_staff(
            PlatformInvitation.objects.get(), the_user(BOB), Client()
        )
    assert mails(post, "carol@example.com") == 1


def test_limits_can_be_disabled(invites, post, no_floods):
    for _ in range(3):
        invites.cancel(invites.sent())

    assert mails(post) == 3
