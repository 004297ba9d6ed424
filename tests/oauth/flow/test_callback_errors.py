"""With `ERROR_REDIRECT_URL` every failed callback goes to the front end, and no browser ends at
JSON."""

from urllib.parse import parse_qsl, urlsplit

import pytest

from authservice.kernel import errors
from authservice.oauth import flow
from tests.oauth.browsing import FORM, FRONT, Browser, profile
from tests.oauth.in_process import office
from tests.support.flows import CommittingApi

pytestmark = pytest.mark.django_db

ERRORS = f"{FRONT}/error"
CALLBACK = "oauth/acme/callback"


@pytest.fixture
def front_end(oauth):
    oauth(ERROR_REDIRECT_URL=ERRORS)


@pytest.fixture
def form_post(providers, front_end):
    providers(acme={"FORM_POST": True})


@pytest.fixture
def limited(configure, clock):
    """One request is left."""
    configure(THROTTLE={"RATES": {"default": "2/min"}})


@pytest.fixture
def broken(monkeypatch):
    """The callback fails with an unexpected exception."""

    def fail(*_, **__):
        raise RuntimeError("out of order")

    monkeypatch.setattr(flow, "complete", fail)


@pytest.fixture
def browser():
    return Browser(CommittingApi(raising=False))


def redirected(answer):
    """The target of a redirect, and its parameters without the texts."""
    assert answer.status == 302, answer.response.content
    url = urlsplit(answer.headers["Location"])
    values = dict(parse_qsl(url.query))
    assert values.pop("error_description")
    return url._replace(query="").geturl(), values


def test_flood_limit_redirects_the_browser(limited, browser, front_end):
    address = office.approve(browser.start(), profile())
    browser.get(CALLBACK)

    answer = browser.come_back(address)

    assert redirected(answer) == (ERRORS, {"error": "TOO_MANY_REQUESTS"})
    assert 0 < int(answer.headers["Retry-After"]) <= 60


def test_flood_limit_is_json_without_an_error_page(limited, browser):
    browser.get(CALLBACK)
    browser.get(CALLBACK)

    answer = browser.get(CALLBACK)

    assert answer.error == (429, "TOO_MANY_REQUESTS")
    assert answer.headers["Retry-After"]


def test_unexpected_failure_redirects_the_browser(browser, broken, front_end, caplog):
    answer = browser.get(CALLBACK)

    assert redirected(answer) == (ERRORS, {"error": "INTERNAL_ERROR"})
    assert "out of order" in caplog.text
    assert answer.headers["X-Request-ID"]


def test_unexpected_failure_is_json_without_an_error_page(browser, broken):
    assert browser.get(CALLBACK).error == (500, "INTERNAL_ERROR")


def test_failure_after_the_state_was_found_deletes_the_cookie(browser, front_end, monkeypatch):
    address = office.approve(browser.start(), profile())
    monkeypatch.setattr(flow, "translated", None)
    assert browser.cookies

    assert redirected(browser.come_back(address)) == (ERRORS, {"error": "INTERNAL_ERROR"})
    assert not browser.cookies


def test_body_that_cannot_be_read_redirects_the_browser(browser, api, form_post):
    answer = api.request("POST", CALLBACK, b"code=" + b"x" * 70_000, content_type=FORM)

    assert redirected(answer) == (ERRORS, {"error": "REQUEST_TOO_LARGE"})


def test_settings_that_cannot_be_read_are_an_internal_error(browser, oauth):
    oauth(ERROR_REDIRECT_URL=ERRORS, STATE_TTL="soon")

    assert browser.get(CALLBACK).error == (500, errors.InternalError.code)


@pytest.mark.parametrize(
    ("sends_forms", "allowed"), [(False, "GET, HEAD, OPTIONS"), (True, "GET, HEAD, OPTIONS, POST")]
)
def test_wrong_method_is_json_with_the_methods_of_the_provider(
    api, providers, front_end, sends_forms, allowed
):
    providers(acme={"FORM_POST": sends_forms})

    answer = api.request("PUT", CALLBACK)

    assert answer.error == (405, "METHOD_NOT_ALLOWED")
    assert answer.headers["Allow"] == allowed
    assert api.request("OPTIONS", CALLBACK).headers["Allow"] == allowed


def test_form_of_a_provider_that_sends_none_is_json(api, front_end):
    answer = api.request("POST", CALLBACK, content_type=FORM)

    assert answer.error == (405, "METHOD_NOT_ALLOWED")
    assert answer.headers["Allow"] == "GET, HEAD, OPTIONS"


def test_wrong_method_of_an_unknown_provider_may_try_all_methods(api):
    answer = api.request("PUT", "oauth/nowhere/callback")

    assert answer.headers["Allow"] == "GET, HEAD, OPTIONS, POST"
    assert api.request("POST", "oauth/nowhere/callback").error == (404, "OAUTH_PROVIDER_NOT_FOUND")
