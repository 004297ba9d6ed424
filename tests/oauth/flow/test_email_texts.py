"""The mails about linked and unlinked providers, as their reader gets them."""

from pathlib import Path

import pytest

from authservice import oauth as module
from authservice.kernel.message_queue import Message
from authservice.notification import worker
from authservice.oauth import linking
from tests.oauth.browsing import ANN
from tests.support.flows import prove
from tests.support.mounted import mounted
from tests.support.people import make_user

pytestmark = pytest.mark.django_db

CHANGES = (linking.LINKED, linking.UNLINKED)
KINDS = (*CHANGES, linking.REFUSED)
SEEN = {"ip_address": "203.0.113.7", "at": "2030-01-01T12:00:00+00:00"}


@pytest.fixture(autouse=True)
def _notification():
    with mounted("authservice.notification"):
        yield


@pytest.fixture
def deliver(mailoutbox):
    make_user()
    prove()

    def deliver(kind, language="", **details):
        details["provider"] = "github"
        worker.deliver(Message(kind=kind, target=ANN, language=language, details=details))
        return mailoutbox[-1]

    return deliver


@pytest.mark.parametrize("kind", CHANGES)
def test_email_names_provider_and_client_in_text_and_html(deliver, kind):
    mail = deliver(kind, **SEEN)
    [(html, _)] = mail.alternatives

    assert mail.to == [ANN]
    assert mail.subject.startswith("testserver: a provider was ")
    for words in ("github", "203.0.113.7", "If it was you", "ask for a new password at once"):
        assert words in mail.body
        assert words in html


def test_email_about_a_refused_login_says_what_to_do(deliver):
    mail = deliver(linking.REFUSED, **SEEN)
    [(html, _)] = mail.alternatives

    assert mail.subject == "testserver: a login with a provider was refused"
    for words in ("github", "203.0.113.7", "The login was refused", "there is nothing to do"):
        assert words in mail.body
        assert words in html


def test_email_names_support_if_it_unlinked(deliver):
    mail = deliver(linking.UNLINKED, by="staff")

    assert "Support unlinked github" in mail.body
    assert "Support unlinked github" in mail.alternatives[0][0]
    assert "If it was you" not in mail.body + mail.alternatives[0][0]


@pytest.mark.parametrize("kind", KINDS)
def test_email_is_translated_to_german(deliver, kind):
    mail = deliver(kind, "de")

    assert "github" in mail.body
    assert "Waren Sie das nicht" in mail.alternatives[0][0]
    assert "your account" not in mail.body


def test_every_template_is_tested():
    texts = Path(module.__file__).parent / "templates/authservice/notification"

    assert {place.name for place in texts.iterdir()} == set(KINDS)
