"""The mail of an invitation, as the worker sends it, in English and German."""

from dataclasses import replace

import pytest
from django.utils.html import escape

from authservice.notification import worker
from tests.organization.inside.test_invitations import KIND, invite
from tests.support.flows import prove
from tests.support.mounted import mounted

pytestmark = pytest.mark.django_db


@pytest.fixture
def deliver(ann, acme, post, mailoutbox):
    """The mail of an invitation of Cat by Ann, whose address is verified."""
    prove(ann.email)
    invite(ann, acme)
    [job] = [job for job in post.jobs if job.kind == KIND]

    def mail(language=""):
        # Not before: the messenger of the module would take the job of the invitation.
        with mounted("authservice.notification"):
            worker.deliver(replace(job, language=language))
        return mailoutbox[-1]

    return mail


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", 'ann@example.com invites you to join "Acme" on'),
        ("de", 'ann@example.com lädt Sie ein, "Acme" bei'),
        ("es", 'ann@example.com le invita a unirse a "Acme" en'),
        ("fr", 'ann@example.com vous invite à rejoindre "Acme" sur'),
    ],
)
def test_mail_names_inviter_and_organization(deliver, language, text):
    mail = deliver(language)
    [(html, _)] = mail.alternatives

    assert mail.to == ["cat@example.com"]
    assert '"Acme"' in mail.subject
    assert text in mail.body
    assert escape(text) in html
    assert "/org/invitations/accept?token=" in mail.body
    assert "/org/invitations/accept?token=" in html


def test_mail_of_an_inviter_without_a_verified_address_names_none(ann, acme, post, mailoutbox):
    invite(ann, acme)

    with mounted("authservice.notification"):
        worker.deliver(post.jobs[-1])

    assert 'You are invited to join "Acme"' in mailoutbox[-1].body
    assert ann.email not in mailoutbox[-1].body


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Call 1-800-555-0100 now", '"Call 1-800-555-0100 now"'),
        ('Acme". Your account is locked', '"Acme\'. Your account is locked"'),
        ("www.evil.example", '"www-evil-example"'),
    ],
)
def test_name_of_the_organization_is_quoted(ann, post, mailoutbox, name, shown):
    """Anybody may found one and invite any address: the text must not pass for ours."""
    acme = ann.found(name)
    invite(ann, acme)

    with mounted("authservice.notification"):
        worker.deliver(post.jobs[-1])

    assert mailoutbox[-1].subject.endswith(f"invited to {shown}")
    assert f"join {shown}" in mailoutbox[-1].body
