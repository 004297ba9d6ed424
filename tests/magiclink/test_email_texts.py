"""The text of the e-mail with a link and a code."""

import pytest

from authservice.kernel.message_queue import Message
from authservice.notification import worker
from tests.notification.conftest import link_in
from tests.support.flows import prove
from tests.support.mounted import mounted
from tests.support.people import make_user

pytestmark = pytest.mark.django_db

ANN = "ann@example.com"


@pytest.fixture(autouse=True)
def _notification():
    with mounted("authservice.notification"):
        yield


@pytest.fixture
def deliver(mailoutbox):
    make_user()
    prove()

    def deliver(language=""):
        worker.deliver(Message(kind="magic-link", target=ANN, language=language))
        return mailoutbox[-1]

    return deliver


def html(mail):
    [(text, kind)] = mail.alternatives
    assert kind == "text/html"
    return text


def test_email_has_link_and_code_in_text_and_html(deliver, magic):
    mail = deliver()
    link = link_in(mail.body)
    token = link.partition("token=")[2]

    assert mail.to == [ANN]
    assert link.startswith("http://testserver/auth/magic-link/verify?token=")
    assert link in html(mail)
    [code] = [line for line in mail.body.splitlines() if line.isdigit()]
    assert f"<strong>{code}</strong>" in html(mail)
    assert magic.type(code).status == 200
    assert magic.follow(token).status == 400


def test_email_says_how_long_link_and_code_are_valid(deliver, magiclink):
    magiclink(TTL=600)
    mail = deliver()

    assert "once, for 10 minutes" in mail.body
    assert "once, for 10 minutes" in html(mail)


def test_email_subject_has_no_code(deliver):
    """Lock screens show subjects."""
    mail = deliver()

    assert not any(character.isdigit() for character in mail.subject)


def test_email_is_translated_to_german(deliver):
    mail = deliver("de")

    assert mail.subject == "testserver: Anmeldung"
    assert "Öffnen Sie dazu diesen Link:" in mail.body
    assert "Beide gelten 15 Minuten lang" in html(mail)
    assert "Wer ihn hat, kann sich anmelden." in mail.body


def test_link_begins_with_the_origin_of_the_settings(deliver, configure):
    configure(API_URL="https://api.example.com/service")

    assert "https://api.example.com/service/auth/magic-link/verify?token=" in deliver().body
