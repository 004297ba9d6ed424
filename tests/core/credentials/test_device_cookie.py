"""The device cookie is hidden from scripts, and over https also bound to its host."""

import pytest
from django.apps import apps

from tests.support.client import PASSWORD

pytestmark = pytest.mark.django_db

PLAIN = "authservice_device"
HOST = f"__Host-{PLAIN}"


@pytest.fixture
def cookies(api):
    def cookies():
        return api.post("signup", email="ann@example.com", password=PASSWORD).response.cookies

    return cookies


@pytest.mark.parametrize(
    ("url", "debug", "name"),
    [
        ("https://api.example.com", False, HOST),
        ("https://api.example.com", True, HOST),
        ("HTTPS://api.example.com", False, HOST),
        ("http://api.example.com", False, PLAIN),
        ("http://localhost:8000", False, PLAIN),
        ("", False, HOST),
        ("", True, PLAIN),
    ],
)
def test_device_cookie_has_prefix_and_secure_exactly_over_https(
    cookies, configure, settings, url, debug, name
):
    settings.DEBUG = debug
    configure(API_URL=url)

    (cookie,) = [cookie for key, cookie in cookies().items() if PLAIN in key]

    assert (cookie.key, bool(cookie["secure"])) == (name, name == HOST)


def test_device_cookie_is_httponly_and_lax(cookies):
    cookie = cookies()[PLAIN]

    assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")


def test_device_cookie_is_bound_to_its_host(cookies):
    cookie = cookies()[PLAIN]

    assert (cookie["path"], cookie["domain"]) == ("/", "")


def test_device_cookie_expires_after_a_year(cookies):
    assert cookies()[PLAIN]["max-age"] == 365 * 24 * 3600


def test_device_cookie_equals_the_device_header(api):
    answer = api.post("signup", email="ann@example.com", password=PASSWORD)

    assert answer.response.cookies[PLAIN].value == answer.headers["X-Device-Token"]


def test_device_cookie_without_the_prefix_is_ignored_over_https(api, clock, configure):
    configure(API_URL="https://api.example.com")
    device = api.post("signup", email="ann@example.com", password=PASSWORD).headers[
        "X-Device-Token"
    ]

    def log_in(name):
        body = {"email": "ann@example.com", "password": PASSWORD}
        headers = {"Cookie": f"{name}={device}"}
        return api.request("POST", "login", body, headers=headers).headers["X-Device-Token"]

    assert log_in(PLAIN) != device
    assert log_in(HOST) == device


@pytest.mark.skipif(apps.is_installed("authservice.csrf"), reason="this host has token cookies")
def test_signup_sets_only_the_cookies_of_device_and_signup(cookies):
    assert set(cookies()) == {PLAIN, "authservice_signup"}


def test_login_sets_only_the_device_cookie(cookies, api):
    cookies()

    answer = api.post("login", email="ann@example.com", password=PASSWORD)

    assert set(answer.response.cookies) == {PLAIN}


@pytest.mark.skipif(apps.is_installed("authservice.csrf"), reason="this host has a guard")
class TestWithoutAGuard:
    """Browsers add cookies to forged requests: without a guard, cookies are not read as tokens."""

    @pytest.fixture(autouse=True)
    def _cookies_enabled(self, configure):
        configure(COOKIES={"ENABLED": True})

    def test_signup_without_a_guard_sets_no_token_cookie(self, cookies):
        assert set(cookies()) == {PLAIN, "authservice_signup"}

    def test_token_cookie_without_a_guard_is_ignored(self, api):
        token = api.sign_up()["access_token"]

        answer = api.get("me", headers={"Cookie": f"authservice_access={token}"})

        assert answer.error == (401, "UNAUTHORIZED")
