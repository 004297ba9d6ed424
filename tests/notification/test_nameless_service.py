"""Without `BRAND`, a service at an IP address or at localhost has no name, in mails or texts."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import translation

import authservice
from authservice.core.messages.compose import OutgoingMessage
from authservice.notification import mail
from authservice.notification.conf import brand
from authservice.notification.mail import context_of, opening, render
from tests.hosts import shipped
from tests.languages.catalogues import LANGUAGES
from tests.support.mounted import mounted

FOLDERS = {
    path.parent
    for path in Path(authservice.__file__).parent.glob("*/templates/authservice/notification/*/*")
}
MAILS = sorted(folder.name for folder in FOLDERS if (folder / "subject.txt").exists())
TEXTS = sorted(folder.name for folder in FOLDERS if (folder / "sms.txt").exists())
# Nothing here depends on the database.
pytestmark = pytest.mark.once
NAMELESS = (
    "http://127.0.0.1:8000/auth",
    "http://[::1]:8000",
    "http://localhost:3000",
    "http://app.localhost",
)
DETAILS = {
    "link": "https://front.example.com/page?token=x",
    "code": "123456",
    "expires_in": timedelta(hours=1),
    "organization": "Plums",
    "provider": "Google",
    "new_email": "carl@example.com",
    "passkey": "Laptop",
}


@pytest.fixture(params=["", "ann@example.com"], ids=["", "with inviter"])
def inviter(request):
    return request.param


@pytest.fixture(autouse=True, scope="module")
def _notification():
    """Every module, so that the mails and texts of all are there."""
    apps = [app for app in shipped.everything() if app not in settings.INSTALLED_APPS]
    with mounted(*apps, login="session"):
        yield


@pytest.fixture(autouse=True)
def _nameless(settings):
    settings.AUTHSERVICE = {"API_URL": NAMELESS[0]}


def outgoing(kind, channel="email", inviter=""):
    return OutgoingMessage(
        kind=kind,
        channel=channel,
        to="bob@example.com",
        person=None,
        language="",
        context={**DETAILS, "inviter": inviter},
    )


def is_neutral(text):
    """Whether a text neither names the machine nor has a gap where the name would be."""
    named = re.search(r"127\.0\.0\.1|::1|localhost", text)
    return (
        not named and text[0] == text[0].upper() and not re.search(r"  |\( ?\)| [.,](\s|$)", text)
    )


@pytest.mark.parametrize("language", ["en", *LANGUAGES])
@pytest.mark.parametrize("kind", MAILS)
def test_mail_of_a_nameless_service_has_a_neutral_subject_heading_and_footer(
    kind, language, inviter
):
    with translation.override(language):
        built = mail.build(outgoing(kind, inviter=inviter))
    [(html, _)] = built.alternatives

    assert is_neutral(built.subject), built.subject
    assert is_neutral(built.body), built.body
    assert "\n--" not in built.body
    assert "<strong></strong>" not in html
    assert "127.0.0.1" not in html + built.from_email
    assert re.search(r"<title>(.)", html)[1].isupper()


@pytest.mark.parametrize("language", ["en", *LANGUAGES])
@pytest.mark.parametrize("kind", TEXTS)
def test_text_message_of_a_nameless_service_is_neutral(kind, language):
    with translation.override(language):
        message = outgoing(kind, "sms")
        text = opening(render(message, "sms.txt", context_of(message)).strip())

    assert is_neutral(text), text


@pytest.mark.parametrize("url", NAMELESS)
def test_address_of_the_machine_is_no_name(configure, url):
    configure(API_URL=url)

    assert brand()["name"] == ""


@pytest.mark.parametrize("name", ["api.example.com", "localhost.example.com", "testserver"])
def test_host_name_is_the_name(configure, name):
    configure(API_URL=f"https://{name}/auth")

    assert brand()["name"] == name


def test_footer_of_a_nameless_service_has_the_address_for_questions(configure):
    configure(NOTIFICATION={"BRAND": {"support_email": "help@example.com"}})

    body = mail.build(outgoing("verify-email")).body

    assert body.endswith("\n--\nQuestions? help@example.com\n")


def test_title_of_a_mail_is_its_subject(configure):
    configure(NOTIFICATION={"BRAND": {"name": "Tom & Co"}})

    built = mail.build(outgoing("verify-email"))

    assert built.subject == "Tom & Co: confirm your e-mail address"
    assert "<title>Tom &amp; Co: confirm your e-mail address</title>" in built.alternatives[0][0]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (": confirm", "Confirm"),
        ("\N{NO-BREAK SPACE}: élément", "Élément"),
        ("Shop: confirm", "Shop: confirm"),
        ("plain: text", "plain: text"),
    ],
)
def test_opening_without_a_name_begins_with_a_capital(text, shown):
    assert opening(text) == shown
