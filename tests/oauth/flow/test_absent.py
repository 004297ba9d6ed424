"""Without the module nothing of it remains; with it, the example project reads its variables."""

import json
import os

import pytest

from tests.hosts.runs import python

TRACES = """
import json, sys
import django
django.setup()
from django.apps import apps
from authservice.kernel import modules, settings
from tests.support.routes import routes
foreign = ("authservice.oauth", "social_core", "social_django")
print(json.dumps([
    [name for name in sys.modules if name.startswith(foreign)],
    "OAUTH" in settings.declared(),
    [route.path for route in routes() if "oauth" in route.path],
    [model._meta.db_table for model in apps.get_models() if "oauth" in model._meta.db_table],
    sum(path.startswith(foreign) for _, _, path in modules.slots_filled()),
]))
"""
LOADED = """
import json, sys
import django
django.setup()
import authservice.oauth.views
from tests.support.routes import routes
assert [route for route in routes() if "oauth" in route.path]
installed = [name for name in sys.modules if name.startswith("social_")]
from django.conf import settings
from django.test import Client, override_settings
from authservice.oauth import provider_settings
client = {"CLIENT_ID": "id", "CLIENT_SECRET": "secret"}
spotify = {**client, "BACKEND": "social_core.backends.spotify.SpotifyOAuth2"}
providers = {"github": client, "spotify": spotify}
def loaded():
    return any(name.startswith("social_") for name in sys.modules)
with override_settings(AUTHSERVICE={**settings.AUTHSERVICE, "OAUTH": {"PROVIDERS": providers}}):
    listed = Client().get("/auth/oauth/providers").json()["data"]["providers"]
    assert [one["name"] for one in listed] == ["github", "spotify"]
    provider_settings.find_provider("github")
    before = loaded()
    provider_settings.find_provider("spotify")
    print(json.dumps([installed, before, loaded()]))
"""
MODULES = """
import json
from example_project.settings import AUTHSERVICE, INSTALLED_APPS
section = AUTHSERVICE.get("OAUTH", {})
print(json.dumps([
    "authservice.oauth" in INSTALLED_APPS, section.get("PROVIDERS"),
    {name: value for name, value in section.items() if name != "PROVIDERS"},
    AUTHSERVICE["OUTBOUND"]["INSECURE_HOSTS"],
]))
"""


def test_module_not_installed_leaves_nothing():
    run = python("-c", TRACES, DJANGO_SETTINGS_MODULE="tests.oauth.without")

    assert json.loads(run.stdout) == [[], False, [], [], 0], run.stdout


@pytest.fixture(scope="module")
def loaded():
    """The clients of providers that are loaded with the routes, whether there are some once another
    provider is found, and whether once one of social-core is found."""
    run = python("-c", LOADED, DJANGO_SETTINGS_MODULE="tests.settings")
    assert run.returncode == 0, run.stdout
    return json.loads(run.stdout)


def test_installed_module_does_not_load_the_clients_of_providers(loaded):
    assert loaded[0] == []


def test_social_core_is_loaded_when_one_of_its_back_ends_is_used(loaded):
    assert loaded[1:] == [False, True]


DEFAULTS = {
    "DEFAULT_REDIRECT_URL": "",
    "ERROR_REDIRECT_URL": "",
    "ALLOW_SIGNUP": True,
    "ALLOW_ACCOUNT_LINKING": True,
    "TRUST_EMAIL_VERIFICATION": True,
    "STATE_TTL": 600,
    "USE_SESSION_AUTH": False,
}
GITHUB = {"GITHUB_CLIENT_ID": "id", "GITHUB_CLIENT_SECRET": "secret"}
CLIENT = {"CLIENT_ID": "id", "CLIENT_SECRET": "secret"}
OIDC = {
    "OIDC_ISSUER": "http://localhost:9400",
    "OIDC_CLIENT_ID": "id",
    "OIDC_CLIENT_SECRET": "secret",
}


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, [True, {}, DEFAULTS, []]),
        ({"AUTHSERVICE_MODULES": "notification"}, [False, None, {}, []]),
        ({"GITHUB_CLIENT_SECRET": "alone"}, [True, {}, DEFAULTS, []]),
        (GITHUB, [True, {"github": CLIENT}, DEFAULTS, []]),
        (
            {
                f"{name}_CLIENT_{kind}": kind.lower()
                for name in ("GOOGLE", "MICROSOFT", "DISCORD", "FACEBOOK")
                for kind in ("ID", "SECRET")
            },
            [
                True,
                dict.fromkeys(("google", "microsoft", "discord", "facebook"), CLIENT),
                DEFAULTS,
                [],
            ],
        ),
        (
            {
                "APPLE_CLIENT_ID": "id",
                "APPLE_TEAM_ID": "team",
                "APPLE_KEY_ID": "key",
                "APPLE_PRIVATE_KEY": "pem",
            },
            [
                True,
                {
                    "apple": {
                        "CLIENT_ID": "id",
                        "TEAM_ID": "team",
                        "KEY_ID": "key",
                        "PRIVATE_KEY": "pem",
                    }
                },
                DEFAULTS,
                [],
            ],
        ),
        (
            {
                **OIDC,
                "OIDC_ENABLED": "0",
                "OIDC_EMAIL_DOMAINS": "a.test,b.test",
                "AUTHSERVICE_OAUTH_PKCE": "0",
            },
            [
                True,
                {
                    "oidc": {
                        **CLIENT,
                        "ISSUER": "http://localhost:9400",
                        "ENABLED": False,
                        "EMAIL_DOMAINS": ["a.test", "b.test"],
                        "PKCE": False,
                    }
                },
                DEFAULTS,
                ["localhost"],
            ],
        ),
        (
            {
                "AUTHSERVICE_OAUTH_STATE_TTL": "60",
                "AUTHSERVICE_OAUTH_SESSION": "1",
                "AUTHSERVICE_OAUTH_ALLOW_SIGNUP": "0",
                "AUTHSERVICE_OAUTH_ALLOW_LINKING": "0",
                "AUTHSERVICE_OAUTH_TRUST_EMAIL": "0",
                "AUTHSERVICE_OAUTH_DEFAULT_REDIRECT_URL": "https://app.example.com/x",
                "AUTHSERVICE_OAUTH_ERROR_REDIRECT_URL": "https://app.example.com/y",
            },
            [
                True,
                {},
                {
                    "DEFAULT_REDIRECT_URL": "https://app.example.com/x",
                    "ERROR_REDIRECT_URL": "https://app.example.com/y",
                    "ALLOW_SIGNUP": False,
                    "ALLOW_ACCOUNT_LINKING": False,
                    "TRUST_EMAIL_VERIFICATION": False,
                    "STATE_TTL": 60,
                    "USE_SESSION_AUTH": True,
                },
                [],
            ],
        ),
    ],
)
def test_example_project_configures_the_module_by_environment_variables(environment, expected):
    run = python("-c", MODULES, PYTHONPATH=os.getcwd(), **environment)

    assert json.loads(run.stdout) == expected
