"""The mail: its link, its texts, and when the worker sends none."""

from dataclasses import replace

import pytest
from django.core import mail
from django.utils import timezone

from authservice.core.messages import compose
from authservice.invitation.models import PlatformInvitation
from authservice.invitation.platform_invitations import KIND
from authservice.kernel.modules import plugged
from authservice.notification import worker
from tests.invitation.invites import BOB
from tests.support.messenger.post import query
from tests.support.people import change, deactivate

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_floods")]


@pytest.fixture
def deliver(post, configure):
    """`deliver()` sends the newest job as the worker of the notification module does."""

    def deliver(**settings):
        configure(NOTIFICATION=settings)
        worker.deliver(post.jobs[-1])
        return mail.outbox[-1]

    return deliver


def html(message):
    return message.alternatives[0][0]


def test_link_leads_to_the_front_end(invites, post, configure):
    configure(FRONTEND={"URL": "https://app.example.com"})
    invites.sent()

    link = post.link(KIND)

    assert link.startswith("https://app.example.com/invitations/accept?token=")
    assert set(query(link)) == {"token"}


def test_path_of_the_link_is_a_setting(invites, post, configure):
    configure(FRONTEND={"URL": "https://app.example.com", "INVITATION_PATH": "/join?from=mail"})
    invites.sent()

    assert post.link(KIND).startswith("https://app.example.com/join?from=mail&token=")


def test_link_without_a_front_end_leads_below_the_mount(invites, post):
    invites.sent()

    assert post.link(KIND).startswith("http://testserver/auth/invitations/accept?token=")


def test_mail_names_the_verified_address_of_the_sender(invites, deliver):
    invites.sent("Bob@Example.com")

    message = deliver(BRAND={"name": "Acme"})

    assert message.to == ["Bob@example.com"]
    assert message.subject == "Acme: you are invited"
    assert "ann@example.com invites you to Acme." in message.body
    assert "This link works for 7 days." in message.body
    assert "/invitations/accept?token=" in message.body
    assert "/invitations/accept?token=" in html(message)


def test_mail_to_a_user_goes_to_the_address_of_the_account(api, invites, deliver):
    api.sign_up(BOB)
    invites.sent("BOB@Example.com")

    assert deliver().to == [BOB]


def test_mail_names_no_unverified_address_and_no_name(api, invites, deliver):
    invites.token = api.sign_up("eve@example.com", name="Win a prize at evil.example")[
        "access_token"
    ]
    invites.sent(metadata='"evil.example"')

    message = deliver()

    assert "You are invited to" in message.body
    assert "evil" not in message.body + html(message)
    assert "eve@" not in message.body + html(message)


def test_mail_is_in_the_language_of_the_request(invites, post, deliver):
    invites.sent()
    post.jobs[-1] = replace(post.jobs[-1], language="de")

    message = deliver()

    assert "ann@example.com lädt Sie" in message.body
    assert "Gültigkeit dieses Links: 7 Tage" in message.body
    assert "Einladung öffnen" in html(message)


def test_mail_is_in_the_language_of_a_recipient_with_an_account(invites, bob, deliver):
    invites.sent()

    message = deliver(LANGUAGE="tests.invitation.test_delivery.german")

    assert "lädt Sie" in message.body


def german(user):
    return "de"


def test_job_contains_no_secret(invites, post):
    invites.sent()

    [job] = post.jobs

    row = PlatformInvitation.objects.get()
    assert job.details == {"invitation": str(row.pk), "number": 1}
    assert row.token_digest is None
    assert job.requested


def test_retry_of_a_job_makes_a_link_that_works(invites, post):
    invites.sent()
    lost, sent = invites.read(), invites.read()

    assert invites.decline(lost).code == "INVITATION_NOT_FOUND"
    assert invites.decline(sent).status == 200


def test_delayed_job_does_not_end_the_link_of_a_newer_mail(invites, post):
    sent = invites.sent()
    invites.resend(sent)
    token = invites.read()

    assert compose.compose(post.jobs[0]) is None
    assert invites.accept_as_new(token).status == 200


@pytest.mark.parametrize("closed", ["cancelled", "declined", "deleted"])
def test_closed_invitation_is_not_mailed(invites, post, closed):
    sent = invites.sent()
    if closed == "declined":
        invites.decline(invites.read())
    elif closed == "cancelled":
        invites.cancel(sent)
    else:
        PlatformInvitation.objects.all().delete()

    assert post.outgoing(KIND) is None


def test_expired_invitation_is_not_mailed(clock, invites, post):
    PlatformInvitation.objects.filter(pk=invites.sent()).update(expires_at=timezone.now())

    assert post.outgoing(KIND) is None


def test_suspended_sender_sends_no_mail(invites, post):
    invites.sent()
    deactivate()

    assert post.outgoing(KIND) is None


def test_suspended_recipient_gets_no_mail(invites, post, bob):
    invites.sent()
    deactivate(BOB)

    assert post.outgoing(KIND) is None


def test_sender_whose_address_is_no_longer_verified_is_not_named(invites, deliver):
    invites.sent()
    change(email="moved@example.com")

    assert "moved@" not in deliver().body


def test_invitation_without_a_messenger_is_refused(invites):
    sent = invites.sent()
    with plugged("messenger", None):
        assert invites.send("carol@example.com").error == (501, "EMAIL_NOT_CONFIGURED")
        assert invites.resend(sent).error == (501, "EMAIL_NOT_CONFIGURED")
    assert PlatformInvitation.objects.count() == 1
