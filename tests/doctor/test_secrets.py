"""Which values of settings the command hides, and which it shows so that they can be corrected."""

from importlib import import_module
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from authservice.core.doctor import report
from authservice.kernel import checks, settings
from authservice.kernel.checks import Finding

SECRETS = {"TWILIO_AUTH_TOKEN"}
SECRET = "the-secret-part"


@pytest.fixture
def shown(production, monkeypatch):
    """`shown(text)` is the text of a finding as the command prints it."""

    def run(text):
        def examine(visit):
            yield Finding(area="shop", state="attention", text=text, settings=text, remedy=text)

        monkeypatch.setattr(report, "_OF_CORE", ())
        monkeypatch.setattr(checks, "examinations_of_modules", lambda: [("shop", examine)])
        (finding,) = report.examine().findings
        assert finding.text == finding.settings == finding.remedy
        return finding.text

    return run


def texts_of_the_service():
    """Every key of the service that has a text: the section and the name."""
    for path in (Path(__file__).parents[2] / "authservice").glob("*/conf.py"):
        import_module(f"authservice.{path.parent.name}.conf")  # of modules that are not installed
    for section, schema in settings.declared().items():
        for name, kind in get_type_hints(schema).items():
            if kind is str or str in get_args(kind):
                yield section, name.upper()


def with_value(production, section, name, value):
    production.AUTHSERVICE = {section: {name: value}} if section else {name: value}


def test_every_setting_of_the_service_is_shown_unless_it_is_secret(production, shown):
    for section, name in texts_of_the_service():
        value = "https://api.example.com/base" if name.endswith("URL") else "the-value-of-it"
        with_value(production, section, name, value)

        assert (value not in shown(f"it has {value}.")) == (name in SECRETS), name


@pytest.mark.parametrize(
    "url",
    [
        f"https://shop:{SECRET}@api.example.com",
        f"https://{SECRET}@api.example.com",
        f"https://{SECRET}:@api.example.com",
        f"https://a:other@one.example.com, https://b:{SECRET}@two.example.com",
        f"https://api.example.com/?key={SECRET}",
        f"https://api.example.com/?a=b&api_token={SECRET}#top",
    ],
)
def test_secret_part_of_a_url_is_hidden_in_every_setting_of_the_service(url, production, shown):
    for section, name in texts_of_the_service():
        with_value(production, section, name, url)

        assert SECRET not in shown(f"it has {url}."), name


def test_secrets_in_entries_of_settings_are_hidden(production, shown):
    production.AUTHSERVICE = {
        "SIGNING_KEYS": [{"alg": "EdDSA", "state": "active", "private_key": "the-signing-key"}],
        "OAUTH": {
            "PROVIDERS": {
                "shop": {
                    "CLIENT_ID": "the-client-id",
                    "CLIENT_SECRET": "the-client-secret",
                    "PRIVATE_KEY": "the-private-key",
                    "TOKEN_URL": "https://idp.example.com/token",
                }
            }
        },
    }
    kept = "EdDSA active the-client-id https://idp.example.com/token"

    output = shown(f"{kept} the-signing-key the-client-secret the-private-key")

    assert output == f"{kept} ******** ******** ********"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SECRET_KEY_FALLBACKS", [SECRET]),
        ("SHOP_PASSWORD", SECRET),
        ("SHOP_URL", f"https://{SECRET}:@api.example.com"),
        ("SHOP_API_KEY", {"live": SECRET}),
        ("SHOP_SECRET", {"live": SECRET}),
        ("BROKERS", f"amqp://a:other@h1;amqp://b:{SECRET}@h2"),
        ("BROKERS", f"redis://:other@h1:1,redis://:{SECRET}@h2:2"),
        ("SHOP_API_KEY", SECRET.encode()),
        ("SECRET_PATH", SECRET),
        ("SLACK_API_URL", f"https://hooks.example.com/services/{SECRET}"),
        ("API_KEYS", {"partner": SECRET}),
        ("SECRETS", {"partner": {"live": [SECRET]}}),
        ("PARTNERS", [{"api_key": SECRET}]),
        ("BROKER", f"amqp://shop:{SECRET}@broker.example.com"),
        ("SHOP_API_URL", f"https://shop.example.com/?token={SECRET}"),
    ],
)
def test_secrets_of_the_project_are_hidden(name, value, production, shown):
    setattr(production, name, value)

    assert SECRET not in shown(f"it has {value}, and more")


def test_user_name_alone_in_a_url_is_hidden_there_only(production, shown):
    production.SENTRY_DSN = url = f"https://{SECRET}@sentry.example.com/1"

    assert shown(f"{url} postgres") == "https://********sentry.example.com/1 postgres"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AUTH_USER_MODEL", "accounts.User"),
        ("AUTHENTICATION_BACKENDS", ["shop.backends.Backend"]),
        ("AUTH_PASSWORD_VALIDATORS", [{"NAME": "shop.validators.Length"}]),
        ("REST_FRAMEWORK", {"DEFAULT_AUTHENTICATION_CLASSES": ["shop.Authentication"]}),
        ("SHOP_API_URL", "https://shop.example.com"),
        ("SHOP_API_URL", "http://localhost:8000/"),
    ],
)
def test_public_values_of_the_project_are_shown(name, value, production, shown):
    setattr(production, name, value)

    assert shown(f"it has {value}") == f"it has {value}"


def test_finding_names_the_wrong_api_url(problems, production):
    production.AUTHSERVICE["API_URL"] = "http://localhost:8000"

    assert any("'http://localhost:8000'" in finding.text for finding in problems())
