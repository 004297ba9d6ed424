"""E-mails about access from before an address was verified: an attacker may have set it up."""

import pytest

from authservice.core.messages import kinds, security_notice
from authservice.core.models import OneTimeToken
from authservice.core.users import lookup
from authservice.kernel.client import Client
from tests.notification.conftest import link_in
from tests.support.people import the_user

pytestmark = pytest.mark.django_db

SEEN = {"user_agent": "", "ip_address": "203.0.113.7", "at": "2030-01-02T03:04:05Z"}


@pytest.fixture
def confirmation_email(mark_verified, deliver):
    """The e-mail after the first verification of an address, by an unknown client."""
    mark_verified(name="Call 0900 12345")
    person = lookup.get_person(the_user())
    before = security_notice.state_of(person)

    def mail(language=""):
        notice = OneTimeToken.objects.filter(purpose="secure-account").first()
        details = {**SEEN, "notice": str(notice.pk)}
        kind = kinds.EMAIL_CONFIRMED
        return deliver(kind, language=language, details=details)

    security_notice.notify(kinds.EMAIL_CONFIRMED, person, Client(), before)
    return mail


@pytest.fixture
def signup_email(ann, deliver):
    """The e-mail after a sign-up with an address that is taken but unverified."""
    return lambda language="": deliver(kinds.SIGNUP, language=language)


def test_confirmation_email_links_to_the_page_that_secures_the_account(confirmation_email):
    mail = confirmation_email()

    assert mail.subject == "testserver: your e-mail address was confirmed"
    assert "/account/secure?token=" in link_in(mail.body)
    assert link_in(mail.body) in mail.alternatives[0][0]
    assert "works for 3 days" in mail.body
    assert "203.0.113.7" in mail.body


def test_confirmation_email_has_no_name_that_an_attacker_may_have_chosen(confirmation_email):
    mail = confirmation_email()

    assert "0900" not in mail.body + mail.alternatives[0][0]


def test_confirmation_email_is_translated(confirmation_email):
    mail = confirmation_email("de")

    assert mail.subject == "testserver: Ihre E-Mail-Adresse wurde bestätigt"
    assert "Diese E-Mail-Adresse wurde zum ersten Mal bestätigt" in mail.body
    assert "sichern Sie Ihr Konto mit diesem Link" in mail.alternatives[0][0]


def test_signup_email_to_an_unverified_address_links_to_the_page_that_sets_a_password(signup_email):
    mail = signup_email()

    assert mail.subject == "testserver: choose a password to use your account"
    assert "nobody has ever confirmed it" in mail.body
    assert "/reset-password?token=" in link_in(mail.body)
    assert link_in(mail.body).replace("&", "&amp;") in mail.alternatives[0][0]
    assert "works for 1 hour" in mail.body


def test_signup_email_to_an_unverified_address_is_translated(signup_email):
    mail = signup_email("de")

    assert mail.subject == "testserver: Wählen Sie ein Passwort für Ihr Konto"
    assert "aber niemand hat sie je bestätigt" in mail.body
    assert "wählen Sie hier ein neues Passwort" in mail.alternatives[0][0]
