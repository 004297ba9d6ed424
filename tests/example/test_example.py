"""The example project: its environment variables, and the preparation before the first request."""

import json
import re
import socket

import environ
import pytest
from django.core.mail import EmailMessage

from example_project import mail, oauth
from tests.example import started
from tests.hosts.runs import ROOT, python

URLS = """
import json
from example_project import settings
mail = getattr(settings, "MAILERS", {}).get("default", vars(settings).get("EMAIL_BACKEND"))
print(json.dumps([settings.DATABASES, settings.CACHES, mail], default=str))
"""
STARTED = """
import gc, json, sys
from example_project import {server}
print(json.dumps([gc.get_freeze_count() > 50_000, "example_project.urls" in sys.modules,
    "authservice.core.api.signup_views" in sys.modules]))
"""


def output_of(script, **variables):
    run = python("-c", script, **variables)
    assert run.returncode == 0, run.stdout
    return json.loads(run.stdout.splitlines()[-1])


def test_empty_url_variable_counts_as_absent():
    databases, caches, mail = output_of(URLS, DATABASE_URL="", CACHE_URL="", EMAIL_URL="")

    assert databases["default"]["NAME"].endswith("example_project/db.sqlite3")
    assert caches["default"]["BACKEND"].endswith("LocMemCache")
    assert "django.core.mail.backends.console.EmailBackend" in str(mail)


def test_mails_are_written_to_the_folder_of_the_url(settings, tmp_path):
    for name, value in mail.mailer(f"filemail:///{tmp_path}/mail").items():
        setattr(settings, name, value)

    EmailMessage("Hello", "Ann", "us@example.com", ["ann@example.com"]).send()

    [file] = (tmp_path / "mail").iterdir()
    assert "Subject: Hello" in file.read_text()


def test_credential_of_a_provider_may_begin_with_a_dollar_sign(monkeypatch):
    for name in ("ID", "SECRET"):
        monkeypatch.setenv(f"GITHUB_CLIENT_{name}", "$HOME")

    assert oauth.providers(environ.Env()) == {
        "github": {"CLIENT_ID": "$HOME", "CLIENT_SECRET": "$HOME"}
    }


def test_key_of_apple_may_be_one_line(monkeypatch):
    for name, value in {"CLIENT_ID": "app", "KEY_ID": "key", "PRIVATE_KEY": r"a\nb"}.items():
        monkeypatch.setenv(f"APPLE_{name}", value)

    assert oauth.providers(environ.Env())["apple"]["PRIVATE_KEY"] == "a\nb"


@pytest.mark.parametrize("server", ["wsgi", "asgi"])
def test_routes_are_loaded_and_frozen_before_the_first_request(server):
    assert output_of(STARTED.format(server=server)) == [True, True, True]


SETTINGS = """
import json
from example_project import settings
print(json.dumps([settings.AUTHSERVICE, settings.CORS_EXPOSE_HEADERS]))
"""


def test_example_defaults_are_for_development():
    authservice, exposed = output_of(SETTINGS)

    assert authservice["API_URL"] == "http://localhost:8000"
    assert authservice["TRUSTED_PROXIES"] == 0
    assert authservice["API"] == {"ERROR_DETAILS": False}
    assert authservice["FRONTEND"] == {"URL": "", "VERIFY_EMAIL_CALLBACK_PATH": ""}
    assert authservice["MAGICLINK"]["CALLBACK_URL"] == ""
    assert authservice["OAUTH"]["DEFAULT_REDIRECT_URL"] == ""
    assert authservice["OAUTH"]["ERROR_REDIRECT_URL"] == ""
    assert authservice["OAUTH"]["PROVIDERS"] == {}
    assert authservice["CORE"] == {
        "RESET_REQUIRES_EMAIL": True,
        "VERIFY_CONFIRM": "auto",
        "REQUIRE_RECENT_PROOF": False,
        "ALLOW_SELF_DELETE": False,
        "PASSWORD_RECHECK": "notice",
    }
    assert authservice["MAGICLINK"]["CONFIRM"] == "auto"
    assert exposed == ["Retry-After", "X-Device-Token", "X-Request-ID", "X-Total-Count"]


def test_environment_variables_change_the_example_settings():
    authservice, _ = output_of(
        SETTINGS,
        AUTHSERVICE_TRUSTED_PROXIES="none",
        AUTHSERVICE_ERROR_DETAILS="1",
        AUTHSERVICE_RESET_REQUIRES_EMAIL="0",
        AUTHSERVICE_VERIFY_CONFIRM="off",
        AUTHSERVICE_MAGICLINK_CONFIRM="off",
        AUTHSERVICE_REQUIRE_RECENT_PROOF="1",
        AUTHSERVICE_ALLOW_SELF_DELETE="1",
        AUTHSERVICE_PASSWORD_RECHECK="change",
    )

    assert authservice["TRUSTED_PROXIES"] is None
    assert authservice["API"] == {"ERROR_DETAILS": True}
    assert authservice["CORE"] == {
        "RESET_REQUIRES_EMAIL": False,
        "VERIFY_CONFIRM": "off",
        "REQUIRE_RECENT_PROOF": True,
        "ALLOW_SELF_DELETE": True,
        "PASSWORD_RECHECK": "change",
    }
    assert authservice["MAGICLINK"]["CONFIRM"] == "off"


VALIDATORS = """
import json
from example_project import settings
found = [(entry["NAME"].rpartition(".")[2], entry.get("OPTIONS"))
    for entry in settings.AUTH_PASSWORD_VALIDATORS]
print(json.dumps([found, settings.AUTHSERVICE["OUTBOUND"]]))
"""
OF_DJANGO = [
    ["UserAttributeSimilarityValidator", None],
    ["MinimumLengthValidator", None],
    ["CommonPasswordValidator", None],
    ["NumericPasswordValidator", None],
]


def test_example_has_the_password_rules_of_django_only():
    found, _ = output_of(VALIDATORS)

    assert found == OF_DJANGO


def test_environment_variables_add_password_rules():
    found, outbound = output_of(
        VALIDATORS,
        AUTHSERVICE_PASSWORD_LENGTH="15",
        AUTHSERVICE_COMMON_PASSWORDS="/srv/common.filter",
        AUTHSERVICE_BREACHED_PASSWORDS_URL="http://passwords.internal/range/",
    )

    assert found == [
        *OF_DJANGO,
        ["MinimumLengthWithoutFactor", {"min_length": 15}],
        ["NotCommon", {"filter": "/srv/common.filter"}],
        ["NotBreached", {"url": "http://passwords.internal/range/"}],
    ]
    assert outbound == {
        "PRIVATE_HOSTS": ["passwords.internal"],
        "INSECURE_HOSTS": ["passwords.internal"],
    }


VALUES = {
    "SECRET_KEY": "9GmHfD2nq-Zo7pX4kKw1sVbRt8yEaLcUiJx3Q6N5TzPhWvSgBd0MrYuFoAeCjIlK",
    "DATABASE_URL": "postgres://postgres@127.0.0.1:5432/authservice",
    "CACHE_URL": "redis://127.0.0.1:6379/1",
    "EMAIL_URL": "smtp://127.0.0.1:1025",
    "SMS_WEBHOOK_URL": "https://sms.example.com/",
}


def recipe():
    """The production recipe of docs/running.rst: its variables, filled in, and its command."""
    text = (ROOT / "docs" / "running.rst").read_text().replace("\\\n", " ")
    (line,) = [line for line in text.splitlines() if "check --deploy --fail-level" in line]
    variables, _, command = line.partition("python ")
    given = dict(re.findall(r"(\w+)=(\S+)", variables))
    return {name: VALUES.get(name, value) for name, value in given.items()}, command.split()


def test_production_recipe_of_the_docs_passes_the_deployment_check():
    variables, command = recipe()
    run = python(*command, **variables)

    assert run.returncode == 0, run.stdout
    assert "no issues" in run.stdout


OPENED = f"""{started.SCRIPT}
answer = Client().get("/auth/reset-password?token=x", headers=dict(Accept="text/html"))
print(answer.status_code, answer.headers["Content-Type"], settings.AUTHSERVICE["FRONTEND"]["URL"])
"""


def test_link_of_a_forgotten_password_leads_to_a_page_without_a_front_end():
    run = python("-c", OPENED, ALLOWED_HOSTS="testserver", **started.VARIABLES)

    assert run.stdout.strip().endswith("400 text/html; charset=utf-8"), run.stdout


ORIGINS = """
import json
from example_project import settings
print(json.dumps([settings.CORS_ALLOWED_ORIGINS, settings.AUTHSERVICE["CSRF"]["TRUSTED_ORIGINS"]]))
"""


def test_production_recipe_trusts_no_origin_on_the_machine_of_a_visitor():
    variables, _ = recipe()
    trusted = output_of(ORIGINS, AUTHSERVICE_CSRF="1", **variables)
    development = output_of(ORIGINS, AUTHSERVICE_CSRF="1")

    assert trusted == [["https://app.example.com"]] * 2
    assert development == [["http://localhost:3000"]] * 2


def test_front_end_below_a_path_is_trusted_by_its_origin_only():
    url = "https://example.com/shop"
    production = {"DEBUG": "0", "SECRET_KEY": "x" * 50, "AUTHSERVICE_CSRF": "1"}

    assert output_of(ORIGINS, AUTHSERVICE_FRONTEND_URL=url, **production)[0] == [
        "https://example.com"
    ]
    assert output_of(ORIGINS, **production) == [[], []]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("none", None),
        ("2", 2),
        ("10.0.0.0/8, 2001:db8::7", ["10.0.0.0/8", "2001:db8::7"]),
        ("10.0.0.1", ["10.0.0.1"]),
    ],
)
def test_trusted_proxies_are_a_number_or_networks(text, value):
    authservice, _ = output_of(SETTINGS, AUTHSERVICE_TRUSTED_PROXIES=text)

    assert authservice["TRUSTED_PROXIES"] == value


def test_production_recipe_without_trusted_proxies_fails_the_deployment_check():
    variables, command = recipe()
    del variables["AUTHSERVICE_TRUSTED_PROXIES"]
    run = python(*command, **variables)

    assert run.returncode != 0
    assert "authservice.W042" in run.stdout


def test_port_in_use_is_named_with_the_way_out(tmp_path):
    with socket.create_server(("localhost", 0)) as server:
        port = server.getsockname()[1]
        run = python(
            *("example_project/manage.py", "serve", "--bind", f"localhost:{port}"),
            DATABASE_URL=f"sqlite:///{tmp_path}/none.sqlite3",
        )

    assert run.returncode == 1
    assert run.stdout.startswith(f"CommandError: Port {port} is in use. Choose another:")
