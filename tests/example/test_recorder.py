"""What the developer drawer of the example shows of a request, and what it leaves out."""

import json
import os
import subprocess

import pytest

from tests.example import started
from tests.example.servers import KEY
from tests.hosts.runs import python

RECORDED = """
from urllib.parse import urlencode
from example_project.console import recorder
client = Client(SERVER_NAME="localhost")
HTML = {"Accept": "text/html", "Sec-Fetch-Site": "same-origin"}
PASSWORD = "plum tart 42 windows"
def send(path, **body):
    return client.post(path, json.dumps(body), "application/json")
def csrf():
    return client.get("/auth/login", headers=HTML).content.decode().split(
        'name="csrfmiddlewaretoken" value="')[1].split('"')[0]

signed_up = send("/auth/signup", email="ann@example.com", password=PASSWORD)
token = signed_up.json()["data"]["access_token"]
client.get("/auth/me", headers={"Authorization": "Bearer " + token})
client.get("/auth/verify-email?token=of-a-mail&email=ann%40example.com")
exported = client.get("/auth/me/export", headers={"Authorization": "Bearer " + token})
assert b"ann@example.com" in b"".join(exported.streaming_content)
client.get("/auth/openapi.json")
client.get("/auth/docs")
form = {"identifier": "ann@example.com", "password": PASSWORD, "next": "/orders"}
form["csrfmiddlewaretoken"] = csrf()
client.post("/auth/login", urlencode(form), "application/x-www-form-urlencoded", headers=HTML)
client.get("/auth/account/security", headers=HTML)
calls = recorder.calls()
given = ("POST", "http://x/?a=1&b=$HOME", {"name": "O'Hara $HOME"})
print(json.dumps({
    "calls": [[c.method, c.path, c.status, c.command, c.response] for c in calls[::-1]],
    "command": recorder.command(*given, authorized=True),
}))
"""


@pytest.fixture(scope="module")
def recorded():
    run = python(
        *("-c", started.SCRIPT + RECORDED),
        **started.VARIABLES,
        AUTHSERVICE_CONSOLE="1",
        AUTHSERVICE_MAILBOX_KEY=KEY,
        EMAIL_URL="dummymail://",
    )
    assert run.returncode == 0, run.stdout
    return json.loads(next(line for line in run.stdout.splitlines() if line.startswith("{")))


@pytest.fixture(scope="module")
def calls(recorded):
    return recorded["calls"]


def test_requests_of_clients_and_of_the_pages_are_recorded_in_their_order(calls):
    assert [call[:3] for call in calls[:7]] == [
        ["POST", "/auth/signup", 201],
        ["GET", "/auth/me", 200],
        ["GET", "/auth/verify-email?token=…&email=ann%40example.com", 400],
        ["GET", "/auth/me/export", 200],
        # The page of the login, which calls the API for its buttons, and then for its form.
        ["POST", "/auth/passkeys/login/options", 200],
        ["GET", "/auth/oauth/providers", 200],
        ["POST", "/auth/login", 200],
    ]
    assert ["GET", "/auth/2fa/status", 200] in [call[:3] for call in calls[7:]]


def test_commands_have_what_was_sent_but_no_secret(calls):
    assert calls[0][3] == (
        "curl -sS -X POST http://localhost/auth/signup \\\n"
        "  -H 'Content-Type: application/json' \\\n"
        """  -d '{"email": "ann@example.com", "password": "…"}'"""
    )
    assert calls[1][3] == (
        'curl -sS -X GET http://localhost/auth/me \\\n  -H "Authorization: Bearer $TOKEN"'
    )
    assert '"email": "ann@example.com", "password": "…"' in calls[6][3]
    assert "/orders" not in calls[6][3]
    assert '"access_token": "eyJ…"' in calls[6][4]
    text = json.dumps(calls)
    for secret in ("plum tart", "of-a-mail", "eyJh", "csrf"):
        assert secret not in text, secret


def test_streamed_file_reaches_the_client_and_is_not_shown(calls):
    assert calls[3][4] == "(a file)"


def test_error_is_shown_with_its_code(calls):
    assert '"code": "INVALID_VERIFICATION_TOKEN"' in calls[2][4]


def test_command_is_one_for_a_shell_whatever_was_sent(recorded):
    shell = f"curl() {{ printf '%s\\n' \"$@\"; }}\n{recorded['command']}"
    arguments = subprocess.run(
        ["bash", "-c", shell],
        env={**os.environ, "TOKEN": "of-a-login"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()

    assert arguments[3:] == [
        "http://x/?a=1&b=$HOME",
        "-H",
        "Authorization: Bearer of-a-login",
        "-H",
        "Content-Type: application/json",
        "-d",
        '{"name": "O\'Hara $HOME"}',
    ]
