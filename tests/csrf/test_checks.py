"""System checks report settings that would disable the guard or refuse every request."""

import pytest
from django.apps import apps
from django.core.checks import run_checks

PREFIX = "authservice."


@pytest.fixture
def ids():
    def ids():
        found = [check.id for check in run_checks(databases=[]) if str(check.id).startswith(PREFIX)]
        return [
            id_.removeprefix(PREFIX)
            for id_ in found
            if id_ not in ("authservice.I070", "authservice.W180")
        ]

    return ids


@pytest.fixture(autouse=True)
def _no_errors_before(ids):
    assert ids() == []


def test_default_settings_and_cookies_by_https_pass_the_checks(ids, configure):
    configure(API_URL="https://api.example.com", COOKIES={"ENABLED": True})

    assert ids() == []


def test_token_cookies_without_the_csrf_module_are_an_error(ids, configure, settings):
    configure(COOKIES={"ENABLED": True})
    settings.INSTALLED_APPS = [name for name in settings.INSTALLED_APPS if "csrf" not in name]

    assert ids() == ["E060"]


@pytest.mark.parametrize(("section", "key"), [("CSRF", "COOKIE_SAMESITE"), ("COOKIES", "SAMESITE")])
class TestSameSite:
    def test_samesite_none_by_http_is_an_error(self, ids, configure, section, key):
        configure(**{section: {key: "None"}})

        assert ids() == ["E062"]

    def test_samesite_none_by_https_passes_the_checks(self, ids, configure, section, key):
        configure(API_URL="https://api.example.com", **{section: {key: "None"}})

        assert ids() == []

    def test_samesite_with_an_unknown_value_is_an_error(self, ids, configure, section, key):
        configure(**{section: {key: "lax"}})

        assert ids() == ["E002"]


@pytest.mark.parametrize(
    "key", ["COOKIE_HTTPONLY", "COOKIE_DOMAIN", "COOKIE_PATH", "COOKIE_SECURE"]
)
def test_cookie_flags_that_must_not_change_are_unknown_settings(ids, configure, key):
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
    ],
)
def test_cookie_name_that_is_taken_is_an_error(ids, configure, name):
    configure(CSRF={"COOKIE_NAME": name})

    assert ids() == ["E061"]


def test_cookie_name_of_djangos_csrf_cookie_is_an_error(ids, settings):
    settings.CSRF_COOKIE_NAME = "__Host-__service_csrf"

    assert ids() == ["E061"]


def test_access_and_refresh_cookie_of_one_name_are_an_error(ids, configure):
    configure(COOKIES={"ACCESS_NAME": "token", "REFRESH_NAME": "token"})

    assert set(ids()) == {"E061"}


def test_trusted_origin_by_http_of_a_service_by_https_is_a_warning(ids, configure):
    configure(
        API_URL="https://api.example.com", CSRF={"TRUSTED_ORIGINS": ["http://app.example.com"]}
    )

    assert ids() == ["W134"]


@pytest.mark.parametrize("middlewares", ["both", "ours", "Django's"])
def test_header_name_of_djangos_middleware_beside_ours_is_an_error(
    ids, configure, settings, middlewares
):
    ours = "authservice.csrf.middleware.CsrfMiddleware"
    djangos = "django.middleware.csrf.CsrfViewMiddleware"
    both = {"both": [ours, djangos], "ours": [ours], "Django's": [djangos]}
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, *both[middlewares]]
    configure(CSRF={"HEADER_NAME": "X-CSRFToken"})

    assert ids() == (["E131"] if middlewares == "both" else [])


def test_settings_of_the_module_are_accepted_without_the_module(ids, configure, settings):
    settings.INSTALLED_APPS = [name for name in settings.INSTALLED_APPS if "csrf" not in name]

    assert ids() == []


class TestSites:
    """Cookies with SameSite `Lax` do not reach the API from a front end on another site."""

    @pytest.mark.parametrize(
        ("api", "front_end"),
        [
            ("http://127.0.0.1:8000", "http://localhost:3000"),
            ("https://api.example.com", "https://app.example.net"),
            ("https://api.example.com", "http://app.example.com"),
            ("http://192.0.2.1", "http://198.51.2.1"),
            ("http://[::1]:8000", "http://[::2]:3000"),
        ],
    )
    def test_front_end_of_another_site_is_a_warning(self, ids, configure, api, front_end):
        if apps.is_installed("authservice.passkeys"):
            # An IP address is no domain of passkeys.
            configure(PASSKEYS={"RP_ID": "example.com", "ORIGINS": ["https://example.com"]})
        configure(API_URL=api, FRONTEND={"URL": front_end})
        assert ids() == ["W231"]

        configure(CSRF={"COOKIE_SAMESITE": "None"}, COOKIES={"ENABLED": True})
        assert "W231" in ids()

    @pytest.mark.parametrize(
        ("api", "front_end"),
        [
            ("http://localhost:8000", "http://localhost:3000"),
            ("https://api.example.com", "https://example.com"),
            ("https://api.example.com/service", "https://app.example.com:8443"),
            ("https://api.example.com", ""),
        ],
    )
    def test_front_end_of_the_same_site_passes_the_checks(self, ids, configure, api, front_end):
        configure(API_URL=api, FRONTEND={"URL": front_end})

        assert ids() == []

    def test_front_end_of_another_site_with_cookies_for_it_passes_the_checks(self, ids, configure):
        configure(
            API_URL="https://api.example.com",
            FRONTEND={"URL": "https://app.example.net"},
            CSRF={"COOKIE_SAMESITE": "None"},
            COOKIES={"ENABLED": True, "SAMESITE": "None"},
        )

        assert ids() == []

    @pytest.mark.parametrize(
        ("cookies", "text"),
        [
            (False, "CSRF.COOKIE_SAMESITE keeps browsers from sending the cookie, so"),
            (
                True,
                "CSRF.COOKIE_SAMESITE and COOKIES.SAMESITE keep browsers from sending the cookies,"
                " so",
            ),
        ],
    )
    def test_warning_names_each_setting_in_a_correct_sentence(self, configure, cookies, text):
        configure(
            API_URL="https://api.example.com",
            FRONTEND={"URL": "https://app.example.net"},
            COOKIES={"ENABLED": cookies},
        )

        (found,) = [one for one in run_checks(databases=[]) if one.id == "authservice.W231"]
        assert text in found.msg
