"""The example project on a real server: an e-mail arrives by SMTP; its link and code log in."""

import re
import time
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest

from tests.hosts.servers import GUNICORN, UVICORN, served
from tests.magiclink.magic import HTML
from tests.support.messenger.post import query

pytestmark = pytest.mark.slow

ANN = "ann@example.com"


@pytest.fixture(scope="module", params=[GUNICORN, UVICORN], ids=lambda kind: kind.name)
def server(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param.name)
    more = {"AUTHSERVICE_MAGICLINK_AUTO_REGISTER": "1", "AUTHSERVICE_MAGICLINK_CONFIRM": "auto"}
    with served(request.param, folder, **more) as running:
        yield running


def mails(server):
    """The texts of the e-mails with a magic link; others report new devices."""
    texts = [mail.get_body(("plain",)).get_content() for mail in server.sink.mails]
    return [text for text in texts if "/magic-link/verify" in text]


def mailed(server, path):
    """Requests a link; returns the link and the code of the e-mail."""
    before = len(mails(server))
    assert server.post(f"magic-link/{path}", email=ANN)[0] == 200
    end = time.monotonic() + 20
    while len(mails(server)) == before:
        assert time.monotonic() < end, "no mail came"
        time.sleep(0.05)
    text = mails(server)[-1]
    [code] = [word for word in text.split() if re.fullmatch("[0-9]{6}", word)]
    return re.search(r"https?://\S+", text)[0], code


def test_new_user_requests_a_link_and_logs_in_by_link_form_and_code(server):
    link, code = mailed(server, "send")
    assert link.startswith(f"{server.origin}/app/auth/magic-link/verify?token=")
    # With a server that strips the prefix, there is a proxy in front of it, which is missing here.
    at = link.replace("/app/auth/", server.base)

    opened = urlopen(at)
    assert opened.headers["Cache-Control"] == "no-store, private"
    assert b'"email_verified":true' in opened.read()
    assert server.post("magic-link/verify-code", email=ANN, code=code)[1]["code"] == (
        "INVALID_VERIFICATION_CODE"
    )

    link, _ = mailed(server, "resend")
    at = link.replace("/app/auth/", server.base)
    page = urlopen(Request(at, headers=HTML)).read().decode()
    token = re.search('name="token" value="([^"]+)"', page)[1]
    pushed = urlopen(at.partition("?")[0], urlencode({"token": token}).encode())
    assert b'"access_token":' in pushed.read()

    _, code = mailed(server, "resend")
    status, data = server.post("magic-link/verify-code", email=ANN, code=code)
    assert (status, data["user"]["email"]) == (200, ANN)
    assert server.call("GET", "me", token=data["access_token"])[1]["email_verified"] is True


def test_log_contains_no_secret_of_the_email(server, tmp_path_factory):
    link, _ = mailed(server, "send")

    token = query(link)["token"]
    kept = [path.read_text() for path in tmp_path_factory.getbasetemp().rglob("server.log")]
    assert kept
    assert not any(token in text or ANN in text for text in kept)
