"""The device cookie: out of reach of scripts, and of sub-domains wherever there is https."""

import pytest
from django.apps import apps

from tests.client import PASSWORD

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
def test_prefix_and_secure_are_there_exactly_when_the_service_is_reached_by_https(
    cookies, configure, settings, url, debug, name
):
    settings.DEBUG = debug
    configure(API_URL=url)

    (cookie,) = [cookie for key, cookie in cookies().items() if PLAIN in key]

    assert (cookie.key, bool(cookie["secure"])) == (name, name == HOST)


def test_it_is_out_of_reach_of_scripts_and_other_sites(cookies):
    cookie = cookies()[PLAIN]

    assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")


def test_it_is_bound_to_this_host_alone(cookies):
    cookie = cookies()[PLAIN]

    assert (cookie["path"], cookie["domain"]) == ("/", "")


def test_it_lives_for_a_year(cookies):
    assert cookies()[PLAIN]["max-age"] == 365 * 24 * 3600


def test_it_holds_what_the_header_holds(api):
    answer = api.post("signup", email="ann@example.com", password=PASSWORD)

    assert answer.response.cookies[PLAIN].value == answer.headers["X-Device-Token"]


def test_by_https_a_cookie_of_the_plain_name_is_not_looked_at(api, clock, configure):
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
def test_a_sign_up_sets_no_cookie_but_those_of_the_device_and_the_sign_up(cookies):
    assert set(cookies()) == {PLAIN, "authservice_signup"}


def test_a_login_sets_no_other_cookie(cookies, api):
    cookies()

    answer = api.post("login", email="ann@example.com", password=PASSWORD)

    assert set(answer.response.cookies) == {PLAIN}


@pytest.mark.skipif(apps.is_installed("authservice.csrf"), reason="this host has a guard")
class TestWithoutAGuard:
    """A browser sends cookies unasked: where nothing tells a forged request, they are no tokens."""

    @pytest.fixture(autouse=True)
    def _wanted_all_the_same(self, configure):
        configure(COOKIES={"ENABLED": True})

    def test_no_token_is_put_into_a_cookie(self, cookies):
        assert set(cookies()) == {PLAIN, "authservice_signup"}

    def test_a_token_in_a_cookie_is_not_looked_at(self, api):
        token = api.sign_up()["access_token"]

        answer = api.get("me", headers={"Cookie": f"authservice_access={token}"})

        assert answer.error == (401, "UNAUTHORIZED")
