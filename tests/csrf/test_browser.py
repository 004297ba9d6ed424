"""Requests from pages of the own and of another origin, in a real Chromium."""

import json

import pytest

from authservice.core.models import Session
from tests.support.browser import fetch, lent, needs_chromium, pages
from tests.support.client import PASSWORD
from tests.support.people import the_user

pytestmark = [pytest.mark.django_db(transaction=True), needs_chromium]

ANN = {"email": "ann@example.com", "password": PASSWORD}
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def browser(shared_chromium):
    with lent(shared_chromium) as browser:
        yield browser


@pytest.fixture
def service(live_server, settings, configure):
    """The service with tokens in cookies, at 127.0.0.1."""
    url = live_server.url.replace("localhost", "127.0.0.1")
    configure(API_URL=url, COOKIES={"ENABLED": True})
    return url


@pytest.fixture
def home(browser, service):
    """A script of the service's own origin; `home(method, path, body)` returns the response."""
    browser.get(f"{service}/auth/csrf-token")
    browser.delete_all_cookies()

    def ask(method, path, **body):
        browser.get(f"{service}/auth/csrf-token")
        headers = {**JSON, "X-CSRF-Token": cookies(browser)["__service_csrf"]}
        url = f"{service}/auth/{path}"
        return fetch(browser, url, method=method, headers=headers, body=json.dumps(body))

    return ask


@pytest.fixture
def ann(browser, home):
    """A browser that is logged in by cookies."""
    assert home("POST", "signup", **ANN)["status"] == 201
    assert {"authservice_access", "authservice_refresh"} <= set(cookies(browser))


def cookies(browser):
    return {cookie["name"]: cookie["value"] for cookie in browser.get_cookies()}


def form(action, kind, fields):
    inputs = "".join(f"<input name='{name}' value='{value}'>" for name, value in fields)
    return (
        f"<form method=post action='{action}' enctype='{kind}'>{inputs}</form>"
        "<script>document.forms[0].submit()</script>"
    )


@pytest.mark.usefixtures("ann")
class TestOwnOrigin:
    def test_script_logs_in_and_changes_the_profile_by_cookie(self, home):
        answer = home("PUT", "profile", name="Ann")

        assert (answer["status"], '"name":"Ann"' in answer["text"]) == (200, True)

    def test_script_refreshes_and_logs_out_by_cookie(self, browser, home):
        assert home("POST", "refresh")["status"] == 200
        assert home("POST", "logout")["status"] == 200
        assert not {"authservice_access", "authservice_refresh"} & set(cookies(browser))

    def test_script_can_read_the_csrf_cookie_and_no_token(self, browser):
        seen = browser.execute_script("return document.cookie")

        assert "__service_csrf=" in seen
        assert "authservice_" not in seen

    def test_script_without_the_header_is_refused(self, browser, service):
        answer = fetch(browser, f"{service}/auth/logout", method="POST", headers=JSON, body="{}")

        assert (answer["status"], "INVALID_CSRF" in answer["text"]) == (403, True)


# `localhost` is another site than 127.0.0.1, so the browser does not send the cookies. Another
# port is another origin of the same site: the browser sends the cookies, its pages can even read
# the csrf cookie, and only the guard refuses the request.
@pytest.mark.usefixtures("ann")
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
class TestOtherOrigin:
    @pytest.mark.parametrize(
        "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]
    )
    def test_form_of_another_origin_is_refused(self, browser, service, host, kind):
        page = form(f"{service}/auth/logout", kind, [('{"a":"', '"}')])

        with pages({"/": page}, host=host) as other_origin:
            browser.get(other_origin + "/")
            shown = browser.execute_script("return document.body.innerText")

        assert browser.current_url == f"{service}/auth/logout"
        assert "INVALID_CSRF" in shown
        assert alive()

    @pytest.mark.parametrize("mode", ["cors", "no-cors"])
    @pytest.mark.parametrize("kind", ["text/plain", "application/json"])
    def test_script_of_another_origin_changes_nothing(self, browser, service, host, mode, kind):
        token = cookies(browser)["__service_csrf"]
        headers = {"Content-Type": kind, "X-CSRF-Token": token}

        with pages({"/": "<p>other</p>"}, host=host) as other_origin:
            browser.get(other_origin + "/")
            answer = fetch(
                browser,
                f"{service}/auth/logout",
                method="POST",
                mode=mode,
                credentials="include",
                headers=headers,
                body='{"a": "b"}',
            )

        assert answer["status"] == 0
        assert alive()

    def test_login_form_of_another_origin_logs_nobody_in(self, browser, service, host):
        before = Session.objects.count()
        body = json.dumps({**ANN, "x": ""}).removesuffix('"}')
        page = form(f"{service}/auth/login", "text/plain", [(body, '"}')])

        with pages({"/": page}, host=host) as other_origin:
            browser.get(other_origin + "/")

        assert Session.objects.count() == before

    def test_script_of_another_origin_cannot_read_the_csrf_token(self, browser, service, host):
        with pages({"/": "<p>other</p>"}, host=host) as other_origin:
            browser.get(other_origin + "/")
            answer = fetch(browser, f"{service}/auth/csrf-token", credentials="include")

        assert (answer["status"], "csrf_token" in answer["text"]) == (0, False)


def alive():
    return Session.objects.filter(user=the_user(), ended_at=None).exists()
