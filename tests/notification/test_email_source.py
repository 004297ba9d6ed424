"""Links are whole in the source of an e-mail, from which developers copy them: on a terminal, in a
folder and in what a mail server receives."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from django.core.mail import EmailMultiAlternatives
from django.utils import translation

from authservice.core.messages.compose import OutgoingMessage
from authservice.kernel.secret import Secret
from authservice.notification import mail
from tests.hosts.runs import ROOT
from tests.support.mailing import mail_settings
from tests.support.mounted import mounted

LANGUAGES = ("en", "de", "es", "fr")
BODIES = ROOT.glob("authservice/*/templates/authservice/notification/*/body.txt")
KINDS = sorted(body.parent.name for body in BODIES)
# Longer than a line of 78 characters, and with the two characters that quoted-printable and HTML
# write in another way.
TOKEN = "oYYyrHf8-_" * 5
LINK = f"https://accounts.example.com/auth/verify-email?token={TOKEN}&email=ann%40example.com"
LONGEST = LINK + "&next=" + "x" * (998 - len(LINK) - len("&next="))
HEADER_MAX = 78


@pytest.fixture(autouse=True, scope="module")
def _notification():
    """Every template."""
    with mounted("authservice.notification", "authservice.magiclink", "authservice.organization"):
        yield


def outgoing(kind, link=LINK):
    """A message with all that any mail shows, but without a name."""
    context = {
        **{"link": Secret(link), "expires_in": timedelta(hours=1), "code": Secret("123456")},
        **{"at": datetime(2030, 1, 2, tzinfo=UTC), "new_email": "new@example.com"},
        **{"organization": "Acme", "inviter": "Bob", "provider": "GitHub"},
        **{"ip_address": "203.0.113.7", "user_agent": "", "last": True, "changed": ["email"]},
    }
    to = "ann@example.com"
    return OutgoingMessage(
        kind=kind, channel="email", to=to, person=None, language="", context=context
    )


@pytest.fixture(params=["console", "folder", "server"])
def received(request, settings, capsys, tmp_path, sink, mail_to):
    """`received(outgoing)` sends an e-mail and returns its source, where a developer reads it."""

    def use(backend, **options):
        for name, value in mail_settings(backend, **options).items():
            setattr(settings, name, value)

    def on_the_terminal(outgoing):
        use("console")
        mail.send(outgoing)
        return capsys.readouterr().out

    def in_the_folder(outgoing):
        use("filebased", file_path=str(tmp_path))
        mail.send(outgoing)
        [file] = tmp_path.iterdir()
        source = file.read_text()
        file.unlink()
        return source

    def by_the_server(outgoing):
        mail_to(sink.port)
        mail.send(outgoing)
        return sink.raw[-1].decode()

    return {"console": on_the_terminal, "folder": in_the_folder, "server": by_the_server}[
        request.param
    ]


def has_link(kind):
    context = mail.context_of(outgoing(kind))
    return LINK in mail.render(outgoing(kind), "body.txt", context)


def parts(source):
    """The source of the text and of the HTML."""
    text, html = re.split(r"Content-Type: text/html", source)
    return text, html


def test_some_kinds_have_a_link():
    assert {"verify-email", "reset-link", "magic-link", "org-invitation"} <= set(
        filter(has_link, KINDS)
    )


@pytest.mark.parametrize("kind", KINDS)
def test_link_is_whole_in_the_source_in_every_language(received, kind):
    for language in LANGUAGES:
        with translation.override(language):
            text, html = parts(received(outgoing(kind)))

        copied = [re.findall(r"https?://[^\s<>\"]+", part) for part in (text, html)]
        if has_link(kind):
            assert LINK in copied[0]
            assert LINK in [unescape(link) for link in copied[1]]
        for part in (text, html):
            # Neither quoted-printable nor Base64.
            assert re.search(r"^Content-Transfer-Encoding: [78]bit\r?$", part, re.MULTILINE)


def test_longest_line_that_servers_accept_is_whole(received):
    text, _ = parts(received(outgoing("reset-link", LONGEST)))

    assert LONGEST in text.splitlines()


def test_line_longer_than_servers_accept_is_encoded(received):
    source = received(outgoing("reset-link", f"{LONGEST}x"))

    assert LONGEST not in source
    assert max(map(len, source.splitlines())) <= 998


@pytest.mark.parametrize(
    "name", ["Plum", "Über " * 30, "a " * 90, "漢字" * 60], ids=lambda name: name[:4]
)
def test_header_lines_are_folded_as_in_any_mail_of_django(notify, name):
    notify(BRAND={"name": name})
    ours = mail.build(outgoing("reset-link"))
    theirs = EmailMultiAlternatives(
        ours.subject, "", ours.from_email, ours.to, headers=ours.extra_headers
    )

    lines = re.search(rb"^Subject: .*(\n .*)*", ours.message().as_bytes(), re.MULTILINE)[0]

    assert lines in theirs.message().as_bytes()
    assert max(map(len, lines.splitlines())) <= HEADER_MAX
