"""Mails about access from before an address was proven: an attacker may have set it up."""

import pytest

from authservice.core.messages import security_notice
from authservice.core.models import OneTimeToken
from authservice.core.users import lookup
from authservice.kernel import message_queue
from authservice.kernel.client import Client
from tests.notification.conftest import link_in
from tests.people import the_user

pytestmark = pytest.mark.django_db

SEEN = {"user_agent": "", "ip_address": "203.0.113.7", "at": "2030-01-02T03:04:05Z"}


@pytest.fixture
def confirmed(proven, deliver):
    """The mail after a first proof by somebody who did not sign up."""
    proven(name="Call 0900 12345")
    person = lookup.get_person(the_user())
    before = security_notice.state_of(person)

    def mail(language=""):
        notice = OneTimeToken.objects.filter(purpose="secure-account").first()
        details = {**SEEN, "notice": str(notice.pk)}
        kind = message_queue.EMAIL_CONFIRMED
        return deliver(kind, language=language, details=details)

    security_notice.notify(message_queue.EMAIL_CONFIRMED, person, Client(), before)
    return mail


@pytest.fixture
def taken(ann, deliver):
    """The mail after a sign-up at an address that somebody has taken and nobody has proven."""
    return lambda language="": deliver(message_queue.SIGNUP, language=language)


def test_email_confirmed_links_to_the_page_that_secures_the_account(confirmed):
    mail = confirmed()

    assert mail.subject == "testserver: your e-mail address was confirmed"
    assert "/account/secure?token=" in link_in(mail.body)
    assert link_in(mail.body) in mail.alternatives[0][0]
    assert "works for 3 days" in mail.body
    assert "203.0.113.7" in mail.body


def test_email_confirmed_greets_by_no_name_that_an_attacker_may_have_chosen(confirmed):
    mail = confirmed()

    assert "0900" not in mail.body + mail.alternatives[0][0]


def test_email_confirmed_is_translated(confirmed):
    mail = confirmed("de")

    assert mail.subject == "testserver: Ihre E-Mail-Adresse wurde bestätigt"
    assert "Diese E-Mail-Adresse wurde zum ersten Mal bestätigt" in mail.body
    assert "sichern Sie Ihr Konto mit diesem Link" in mail.alternatives[0][0]


def test_signup_unproven_links_to_the_page_that_sets_a_password(taken):
    mail = taken()

    assert mail.subject == "testserver: choose a password to use your account"
    assert "nobody has ever confirmed it" in mail.body
    assert "/reset-password?token=" in link_in(mail.body)
    assert link_in(mail.body).replace("&", "&amp;") in mail.alternatives[0][0]
    assert "works for 1 hour" in mail.body


def test_signup_unproven_is_translated(taken):
    mail = taken("de")

    assert mail.subject == "testserver: Wählen Sie ein Passwort für Ihr Konto"
    assert "aber niemand hat sie je bestätigt" in mail.body
    assert "wählen Sie hier ein neues Passwort" in mail.alternatives[0][0]
