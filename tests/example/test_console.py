"""When the example project has its shop, with which modules, and who may read the mailbox."""

import json
import sys
from pathlib import Path

import pytest

from example_project.management.commands import serve
from tests.example import started
from tests.example.servers import KEY
from tests.hosts.runs import ROOT, python

SETTINGS = """
import json, os, runpy
def read(environment):
    os.environ.update(environment)
    one = runpy.run_path("example_project/settings.py")
    for name in environment:
        del os.environ[name]
    backend = one.get("MAILERS", {{}}).get("default", {{}}).get("BACKEND")
    section = one["AUTHSERVICE"]
    return [
        "example_project.console" in one["INSTALLED_APPS"],
        bool(one["CONSOLE_MAILBOX"]),
        backend or one["EMAIL_BACKEND"],
        section["PAGES"]["HOME_URL"],
        section["OAUTH"]["PROVIDERS"],
        section["API"]["ERROR_DETAILS"],
    ]
print(json.dumps([read(environment) for environment in {environments!r}]))
"""
PLAIN = "django.core.mail.backends.console.EmailBackend"
MAILBOX = "example_project.console.mailbox.EmailBackend"
SMTP = "django.core.mail.backends.smtp.EmailBackend"
LOCAL = {
    "oidc": {
        "CLIENT_ID": "console",
        "CLIENT_SECRET": "only-for-development",
        "ISSUER": "http://localhost:9400",
        "ENABLED": True,
    }
}
PRODUCTION = {"DEBUG": "0", "SECRET_KEY": "a secret of the tests, long enough to be a key"}


# Environment variables, then: installed, mailbox, mail backend, home, providers, details.
SERVE = [
    ({}, [True, True, MAILBOX, "/", LOCAL, True]),
    ({"AUTHSERVICE_CONSOLE": "0"}, [False, False, PLAIN, "", {}, False]),
    ({"EMAIL_URL": "smtp://127.0.0.1:1025"}, [True, False, SMTP, "/", LOCAL, True]),
    (PRODUCTION, [False, False, PLAIN, "", {}, False]),
    ({**PRODUCTION, "AUTHSERVICE_CONSOLE": "1"}, [True, False, PLAIN, "/", {}, True]),
    (
        {"AUTHSERVICE_FRONTEND_URL": "https://app"},
        [True, True, MAILBOX, "", LOCAL, True],
    ),
    ({"AUTHSERVICE_FRONTEND_URL": ""}, [True, True, MAILBOX, "/", LOCAL, True]),
]
OTHER_SERVERS = [
    ({}, [False, False, PLAIN, "", {}, False]),
    ({"AUTHSERVICE_CONSOLE": "1"}, [True, True, MAILBOX, "/", LOCAL, True]),
    ({"AUTHSERVICE_ERROR_DETAILS": "1"}, [False, False, PLAIN, "", {}, True]),
]


@pytest.mark.parametrize(
    ("command", "cases"), [(["serve"], SERVE), ([], OTHER_SERVERS)], ids=["serve", "other servers"]
)
def test_shop_mailbox_and_local_provider_are_for_development(command, cases):
    environments = [environment for environment, _ in cases]
    run = python("-c", SETTINGS.format(environments=environments), *command)

    assert run.returncode == 0, run.stdout
    assert json.loads(run.stdout) == [expected for _, expected in cases]


SERVED = f"""{started.SCRIPT}
client = Client(SERVER_NAME="localhost")
paths = ("/", "/orders", "/mailbox", "/requests", "/requests/new")
page = client.get("/").content.decode()
print(json.dumps([*[client.get(path).status_code for path in paths], 'id="drawer"' in page]))
"""


def served(**variables):
    run = python("-c", SERVED, **started.VARIABLES, **variables)
    assert run.returncode == 0, run.stdout
    return json.loads(run.stdout.splitlines()[-1])


# Slow without the shop, since its settings are read above, and each is a start of the project.
@pytest.mark.parametrize(
    ("console", "expected"),
    [
        pytest.param("", [404] * 5, marks=pytest.mark.slow),
        ("1", [200, 302, 404, 404, 404]),
    ],
)
def test_production_has_a_shop_if_asked_and_never_a_drawer(console, expected):
    asked = {"AUTHSERVICE_CONSOLE": console} if console else {}

    assert served(**PRODUCTION, **asked) == [*expected, False]


# None of them. Slow with some, since each is a start of the project with a database; the mailbox
# below is seen with those that the project has by default.
@pytest.mark.parametrize(
    "modules",
    [
        "",
        pytest.param("notification", marks=pytest.mark.slow),
        pytest.param("pages", marks=pytest.mark.slow),
        pytest.param("notification,pages,csrf", marks=pytest.mark.slow),
    ],
)
def test_shop_copes_with_modules_that_are_not_installed(modules, tmp_path):
    development = {"AUTHSERVICE_CONSOLE": "1", "AUTHSERVICE_MAILBOX": str(tmp_path)}

    assert served(AUTHSERVICE_MODULES=modules, **development) == [200, 302, 404, 404, 404, True]


READ = """
import logging
logging.disable()
from django.core import mail
from django.test import override_settings
mail.send_mail("Hello", "At http://localhost:8000/x", "from@example.com", ["ann@example.com"])
client = Client(SERVER_NAME="localhost")
page = client.get("/")
def read(given):
    client.cookies.clear()
    return [client.get("/?mailbox=" + given).status_code, client.get("/requests/new").status_code]
without_key = [read(given) for given in ("", "another", {key!r}[:-1])]
opened = client.get("/?mailbox=" + {key!r})
cookie = opened.cookies["console_mailbox"]
opening = [opened.status_code, opened.headers["Location"], cookie["httponly"], cookie["samesite"]]
news = client.get("/requests/new")
visit = dict(HTTP_SEC_FETCH_SITE="same-site", HTTP_SEC_FETCH_MODE="navigate")
back = client.get("/", HTTP_SEC_FETCH_DEST="document", **visit)  # from the local provider
answers = [client.get("/"), client.get("/mailbox"), back]
shown = ["Hello" in answer.content.decode() for answer in answers]
def refused_to(**other):
    answers = [client.get(path, **other) for path in ("/", "/mailbox", "/requests/new")]
    return [[a.status_code for a in answers], any("Hello" in a.content.decode() for a in answers)]
refused = [refused_to(**other) for other in json.loads({others!r})]
for changed in (dict(DEBUG=False), dict(CONSOLE_MAILBOX_KEY="")):
    with override_settings(**changed):
        refused.append(refused_to())
with override_settings(CONSOLE_MAILBOX_KEY=""):
    without_key.append(read(""))
print(json.dumps([without_key, opening]))
print(json.dumps([news.json()["mails"], shown, refused]))
print(json.dumps([page.headers["Content-Security-Policy"], page.headers["Referrer-Policy"],
    page.headers["Cache-Control"], news.headers["Cache-Control"]]))
"""
FRAME = {"HTTP_SEC_FETCH_MODE": "navigate", "HTTP_SEC_FETCH_DEST": "iframe"}
OTHERS = [
    {"REMOTE_ADDR": "192.0.2.1"},
    {"HTTP_X_FORWARDED_FOR": "192.0.2.1"},
    {"HTTP_FORWARDED": "for=192.0.2.1"},
    {"HTTP_VIA": "1.1 proxy"},
    {"HTTP_X_REAL_IP": "192.0.2.1"},
    {"HTTP_X_FORWARDED_PROTO": "https"},
    {"HTTP_SEC_FETCH_SITE": "same-site"},
    {"HTTP_SEC_FETCH_SITE": "cross-site"},
    {**FRAME, "HTTP_SEC_FETCH_SITE": "same-site"},
    {**FRAME, "HTTP_SEC_FETCH_SITE": "cross-site"},
    {**FRAME, "HTTP_SEC_FETCH_SITE": "cross-site", "HTTP_SEC_FETCH_DEST": "document"},
]


def test_mailbox_is_read_by_pages_of_this_machine_with_the_key_only(tmp_path):
    run = python(
        "-c",
        started.SCRIPT + READ.format(others=json.dumps(OTHERS), key=KEY),
        AUTHSERVICE_CONSOLE="1",
        AUTHSERVICE_MAILBOX=str(tmp_path / "mailbox"),
        AUTHSERVICE_MAILBOX_KEY=KEY,
        **started.VARIABLES,
    )

    assert run.returncode == 0, run.stdout
    keys, mailed, page = (json.loads(line) for line in run.stdout.splitlines()[-3:])
    assert keys == [[[200, 404]] * 4, [302, "/", True, "Strict"]]
    assert "to ann@example.com" in mailed[0]
    assert '<a href="http://localhost:8000/x"' in mailed[0]
    assert mailed[1] == [True, True, True]
    assert mailed[2] == [[[200, 404, 404], False]] * (len(OTHERS) + 2)
    assert page[0].startswith("default-src 'none'; script-src 'self';")
    assert page[1:] == ["strict-origin", "no-store", "no-store"]
    [kept] = (tmp_path / "mailbox").iterdir()
    assert (kept.stat().st_mode & 0o777, kept.parent.stat().st_mode & 0o777) == (0o600, 0o700)


@pytest.mark.parametrize(
    ("bind", "origin"),
    [
        ("localhost:9000", "http://localhost:9000"),
        ("127.0.0.1:9000", "http://127.0.0.1:9000"),
        ("0.0.0.0:9000", "http://localhost:9000"),
        ("[::]:9000", "http://localhost:9000"),
        ("[::1]:9000", "http://[::1]:9000"),
    ],
)
def test_origin_of_an_address_to_bind_to_opens_in_a_browser(bind, origin):
    assert serve.origin_of(bind) == origin


SERVER = """
import os, django
django.setup()
from django.core.management import call_command
from example_project.management.commands import serve
print(serve.greeting("http://localhost:8000", key=serve.mailbox_key()))
print("---")
os.execv = lambda *_: print(os.environ["AUTHSERVICE_CONSOLE"], os.environ["AUTHSERVICE_API_URL"])
call_command("serve", bind="0.0.0.0:9000", verbosity=0)
os.environ["AUTHSERVICE_API_URL"] = "https://api"
call_command("serve", bind="0.0.0.0:9000", verbosity=0)
"""


@pytest.fixture(scope="module")
def started_servers():
    """The greeting, and what was printed when the command would have started a server twice."""
    run = python("-c", SERVER, "serve", **started.VARIABLES)
    assert run.returncode == 0, run.stdout
    return run.stdout.split("---\n")


def test_server_at_another_address_has_the_shop_and_links_to_itself(started_servers):
    lines = started_servers[1].splitlines()

    assert "1 http://localhost:9000" in lines
    assert lines[-1] == "1 https://api"


def test_serve_prints_the_shop_with_its_key_first_and_a_command_that_runs(started_servers):
    first, *_, provider, _, last = started_servers[0].splitlines()[-6:]

    address, key = first.split("?mailbox=")
    assert address == "Shop           http://localhost:8000/"
    assert len(key) == 32
    assert provider.startswith("Provider       http://localhost:9400 ")
    interpreter, script, command = last.removeprefix("Administrator").split()
    assert command == "createsuperuser"
    assert script == "example_project/manage.py"
    assert Path(ROOT, interpreter).samefile(sys.executable)
