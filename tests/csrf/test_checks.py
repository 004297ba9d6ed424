"""Combinations that would leave the guard open, or shut for good, are told before anything runs."""

from datetime import timedelta

import pytest
from django.core.checks import run_checks

PREFIX = "authservice."


@pytest.fixture
def ids():
    def ids():
        found = [check.id for check in run_checks() if str(check.id).startswith(PREFIX)]
        return [id_.removeprefix(PREFIX) for id_ in found if id_ not in ("authservice.I070",)]

    return ids


@pytest.fixture(autouse=True)
def _sound(ids):
    assert ids() == []


def test_the_defaults_and_cookies_by_https_are_sound(ids, configure):
    configure(API_URL="https://api.example.com", COOKIES={"ENABLED": True})

    assert ids() == []


def test_token_cookies_without_the_csrf_module(ids, configure, settings):
    configure(COOKIES={"ENABLED": True})
    settings.INSTALLED_APPS = [name for name in settings.INSTALLED_APPS if "csrf" not in name]

    assert ids() == ["E060"]


@pytest.mark.parametrize(("section", "key"), [("CSRF", "COOKIE_SAMESITE"), ("COOKIES", "SAMESITE")])
class TestSameSite:
    def test_none_by_http(self, ids, configure, section, key):
        configure(**{section: {key: "None"}})

        assert ids() == ["E062"]

    def test_none_by_https(self, ids, configure, section, key):
        configure(API_URL="https://api.example.com", **{section: {key: "None"}})

        assert ids() == []

    def test_another_word(self, ids, configure, section, key):
        configure(**{section: {key: "lax"}})

        assert ids() == ["E002"]


@pytest.mark.parametrize(
    "key", ["COOKIE_HTTPONLY", "COOKIE_DOMAIN", "COOKIE_PATH", "COOKIE_SECURE"]
)
def test_flags_that_would_break_it_cannot_be_set(ids, configure, key):
    """Scripts must read the cookie, and `__Host-` allows no domain and no path but the root."""
    configure(CSRF={key: "/"})

    assert ids() == ["E001"]


@pytest.mark.parametrize(
    "name",
    [
        "csrftoken",
        "sessionid",
        "django_language",
        "authservice_device",
        "authservice_access",
        "authservice_refresh",
        "__Host-forge",
        "__secure-forge",
        "",
        "a b",
        "a;b",
        "a=b",
        "\xe4",
    ],
)
def test_a_cookie_name_that_another_has_or_none_can_have(ids, configure, name):
    configure(CSRF={"COOKIE_NAME": name})

    assert set(ids()) == {"E061"}


def test_the_name_of_djangos_own_cookie_as_the_host_has_it(ids, settings):
    settings.CSRF_COOKIE_NAME = "__Host-__service_csrf"

    assert ids() == ["E061"]


def test_both_tokens_under_one_name(ids, configure):
    configure(COOKIES={"ACCESS_NAME": "token", "REFRESH_NAME": "token"})

    assert set(ids()) == {"E061"}


@pytest.mark.parametrize(
    "origin",
    [
        "*",
        "https://*",
        "https://*.example.com",
        "null",
        "app.example.com",
        "//app.example.com",
        "https://app.example.com/",
        "https://app.example.com/path",
        "https://app.example.com:443",
        "https://user@app.example.com",
        "https://app.example.com:port",
        "ftp://app.example.com",
        "https://",
        "https://\xe4pp.example.com",
        "",
        7,
        None,
    ],
)
def test_what_is_no_exact_origin(ids, configure, origin):
    configure(CSRF={"TRUSTED_ORIGINS": ["https://good.example.com", origin]})

    assert ids() == ["E133"]


@pytest.mark.parametrize("origin", ["https://app.example.com:8443", "http://localhost:3000"])
def test_what_is_one(ids, configure, origin):
    configure(CSRF={"TRUSTED_ORIGINS": [origin]})

    assert ids() == []


def test_an_origin_by_http_beside_a_service_by_https(ids, configure):
    configure(
        API_URL="https://api.example.com", CSRF={"TRUSTED_ORIGINS": ["http://app.example.com"]}
    )

    assert ids() == ["W134"]


@pytest.mark.parametrize("name", ["", "X CSRF", "X_CSRF_Token", "X-CSRF:Token"])
def test_a_header_name_that_no_server_passes_on(ids, configure, name):
    configure(CSRF={"HEADER_NAME": name})

    assert ids() == ["E130"]


@pytest.mark.parametrize("middlewares", ["both", "ours", "Django's"])
def test_the_header_of_djangos_own_middleware_beside_ours(ids, configure, settings, middlewares):
    ours = "authservice.csrf.middleware.CsrfMiddleware"
    djangos = "django.middleware.csrf.CsrfViewMiddleware"
    both = {"both": [ours, djangos], "ours": [ours], "Django's": [djangos]}
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, *both[middlewares]]
    configure(CSRF={"HEADER_NAME": "X-CSRFToken"})

    assert ids() == (["E131"] if middlewares == "both" else [])


@pytest.mark.parametrize("ttl", [0, timedelta(seconds=-1)])
def test_a_token_without_a_life(ids, configure, ttl):
    configure(CSRF={"TTL": ttl})

    assert ids() == ["E132"]


@pytest.mark.parametrize("path", ["", "/", "//", "hooks", 7])
def test_an_exempt_path_that_is_none_or_everything(ids, configure, path):
    configure(CSRF={"EXEMPT_PATHS": ["/hooks/", path]})

    assert ids() == ["E135"]


def test_without_the_module_its_settings_are_unknown_nowhere(ids, configure, settings):
    settings.INSTALLED_APPS = [name for name in settings.INSTALLED_APPS if "csrf" not in name]

    assert ids() == []
