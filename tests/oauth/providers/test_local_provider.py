"""The stand-in for Google that `authservice_local_provider` starts."""

import ast
import re
import socket
from io import StringIO
from pathlib import Path
from subprocess import PIPE, Popen
from sys import executable

import pytest
from django.core.management import CommandError, call_command

from authservice.oauth.management.commands import authservice_local_provider as local
from authservice.oauth.provider import ProviderError
from authservice.oauth.provider_settings import find_provider
from tests.oauth.providers.conftest import new_flow
from tests.oauth.servers import OpenIDServer, parameters_of
from tests.support.ports import free_port

ROOT = Path(__file__).parents[3]
COMMAND = "authservice_local_provider"


def printed_settings(text):
    """What the printed lines make of `AUTHSERVICE`."""
    lines = re.sub(r"^Local provider .*$", "", text, flags=re.MULTILINE)
    ast.parse(lines)
    outbound = {"TIMEOUT": 5, "PRIVATE_HOSTS": ("sms-gateway",)}
    names = {"AUTHSERVICE": {"OUTBOUND": outbound}}
    exec(lines, names)  # noqa: S102 our own output
    return names["AUTHSERVICE"]


@pytest.fixture(scope="module")
def running():
    """`(port, printed)` of the command in a process of its own."""
    port = free_port()
    arguments = [executable, "-W", "ignore", "-m", "tests.oauth.providers.local_process", str(port)]
    with Popen(arguments, cwd=ROOT, stdout=PIPE, text=True) as process:
        lines = []
        while len(lines) < 7:
            lines.append(process.stdout.readline())
            assert process.poll() is None, lines
        yield port, "".join(lines)
        process.terminate()


def test_printed_settings_lead_a_login_with_google_to_the_stand_in(running, configure):
    port, printed = running
    configure(**printed_settings(printed))
    google, flow = find_provider("google"), new_flow("google")
    url = google.authorization_url(flow)
    assert url.startswith(f"http://localhost:{port}/")

    back = OpenIDServer(f"http://localhost:{port}").approve(url, "ann@example.com")
    result = google.complete(parameters_of(back), flow)

    profile = result.profile
    assert (profile.subject, profile.email) == ("ann@example.com", "ann@example.com")
    assert (profile.email_verified, profile.name) == (True, "Ann")


def test_printed_settings_keep_others(running):
    _, printed = running

    assert printed_settings(printed)["OUTBOUND"] == {
        "TIMEOUT": 5,
        "PRIVATE_HOSTS": ["sms-gateway", "localhost"],
        "INSECURE_HOSTS": ["localhost"],
    }


def test_stand_in_listens_at_the_loopback_interface_alone(running):
    port, _ = running
    own = socket.gethostbyname(socket.gethostname())
    if not own.startswith("127."):
        with socket.socket() as tried:
            tried.settimeout(2)
            assert tried.connect_ex((own, port)) != 0
    assert "0.0.0.0" not in local.issuer(port)  # noqa: S104 nothing is bound here


def test_code_that_the_stand_in_did_not_issue_is_refused(running, configure):
    configure(**printed_settings(running[1]))
    google, flow = find_provider("google"), new_flow("google")

    with pytest.raises(ProviderError):
        google.complete({"code": "forged", "state": "x"}, flow)


@pytest.mark.parametrize(
    ("arguments", "setting", "words"),
    [
        ((), {"DEBUG": False}, "DEBUG = True"),
        (("--name", "github"), {"DEBUG": True}, "github has endpoints of its own"),
        (("--name", "apple"), {"DEBUG": True}, "google, gitlab"),
        (("--name", "linked"), {"DEBUG": True}, "a path of this module"),
        (("--name", "Google"), {"DEBUG": True}, "lower-case"),
        (("--name", 'x"] = 1 #'), {"DEBUG": True}, "lower-case"),
    ],
)
def test_command_refuses(settings, monkeypatch, arguments, setting, words):
    started = []
    monkeypatch.setattr("werkzeug.serving.make_server", lambda *args, **_: started.append(args))
    settings.DEBUG = setting["DEBUG"]

    with pytest.raises(CommandError, match=words):
        call_command(COMMAND, *arguments)
    assert started == []


def test_command_names_the_package_that_it_needs(settings, monkeypatch):
    settings.DEBUG = True
    monkeypatch.setattr(local, "find_spec", lambda name: None)

    with pytest.raises(CommandError, match="pip install oidc-provider-mock"):
        call_command(COMMAND)


def test_options_choose_name_port_and_users(settings, monkeypatch):
    started = []

    class Server:
        def __init__(self, *arguments, **_):
            started.append(arguments)

        def serve_forever(self): ...

    monkeypatch.setattr("werkzeug.serving.make_server", Server)
    settings.DEBUG, output = True, StringIO()

    call_command(
        COMMAND, "--name", "company", "--port", "9500", "--user", "me@x.test", stdout=output
    )

    [(host, port, application)] = started
    assert (host, port) == ("localhost", 9500)
    page = application.test_client().get("/.well-known/openid-configuration").json
    assert page["issuer"] == "http://localhost"
    [name] = printed_settings(output.getvalue())["OAUTH"]["PROVIDERS"]
    assert name == "company"


def test_port_in_use_is_named(settings, running):
    settings.DEBUG = True

    with pytest.raises(CommandError, match="choose another with --port"):
        call_command(COMMAND, "--port", str(running[0]))


# Another issuer for a named provider


@pytest.mark.parametrize("name", ["google", "gitlab", "slack"])
def test_named_provider_with_another_issuer_uses_its_endpoints(provider, standin, name):
    standin.discover()
    known = provider(name, ISSUER=standin.url, CLIENT_ID="c", CLIENT_SECRET="s")

    assert known.authorization_url(new_flow(name)).startswith(f"{standin.url}/authorize?")
    assert known.token_url() == f"{standin.url}/token"
    assert known.userinfo_url() == f"{standin.url}/user"
    assert known.jwks_url() == f"{standin.url}/keys"


def test_named_provider_with_its_own_issuer_is_not_discovered(provider):
    known = provider(
        "google", ISSUER="https://accounts.google.com", CLIENT_ID="c", CLIENT_SECRET="s"
    )

    assert known.token_url() == "https://oauth2.googleapis.com/token"
    assert known.authorization_url(new_flow("google")).startswith("https://accounts.google.com/")
