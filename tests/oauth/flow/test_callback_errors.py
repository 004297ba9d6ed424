"""With `ERROR_REDIRECT_URL` every failed callback goes to the front end, and so does a browser
whose login cannot start: it never ends at JSON."""

from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from authservice.kernel import errors
from authservice.oauth import flow
from authservice.oauth.provider import ProviderError
from authservice.oauth.serializers import CallbackIn
from tests.oauth.browsing import FORM, FRONT, Browser, profile
from tests.oauth.in_process import InProcess, office
from tests.oauth.servers import parameters_of
from tests.support.flows import CommittingApi

pytestmark = pytest.mark.django_db

ERRORS = f"{FRONT}/error"
OPENED = {"Sec-Fetch-Mode": "navigate"}
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


@pytest.mark.parametrize(
    "error",
    ["access_denied", "x" * 400, "x" * 5000, "line\nend", "\x00", "\ud800", "e\u0301" * 300],
    ids=lambda text: f"{len(text)}-{text[:6]!r}",
)
@pytest.mark.parametrize("provider", [{}, {"FORM_POST": True}], ids=["query", "form"])
def test_error_of_a_provider_is_its_refusal_however_it_is_written(
    browser, providers, error, provider
):
    providers(acme=provider)
    state = parameters_of(browser.start())["state"]
    query = urlencode({"state": state, "error": error}, errors="surrogatepass")
    send = browser.post_back if provider else browser.come_back

    answer = send(f"/auth/oauth/acme/callback?{query}")

    if error == "\x00":  # nothing is left of it, so this is a callback without a code
        assert answer.status == 400
    else:
        assert answer.error == (400, "OAUTH_PROVIDER_ERROR")


@pytest.mark.parametrize(("length", "status"), [(5000, 200), (5001, 400)])
def test_code_has_at_most_5000_characters(browser, length, status):
    back = office.approve(browser.start(), profile())
    code = parameters_of(back)["code"]
    office.grants["c" * length] = office.grants.pop(code)

    answer = browser.come_back(back.replace(code, "c" * length))

    assert answer.status == status
    if status == 400:
        assert answer.code == "VALIDATION_ERROR"
        assert answer.data["message"].startswith("code: ")


def test_longest_callback_fits_into_a_request_line():
    """gunicorn reads at most 8,190 bytes of it."""
    fields = CallbackIn().fields
    longest = {name: "x" * field.max_length for name, field in fields.items()}
    path = f"/auth/oauth/{'p' * 63}/callback?{urlencode(longest)}"

    assert len(f"GET {path} HTTP/1.1\r\n") < 8190


class TestStart:
    @pytest.fixture
    def failing(self, request, providers, monkeypatch):
        """A start that fails for this reason."""
        if request.param == "OAUTH_PROVIDER_DISABLED":
            providers(acme={"ENABLED": False})
            return
        problem = ProviderError() if request.param == "OAUTH_PROVIDER_ERROR" else RuntimeError()

        def fail(*_):
            raise problem

        monkeypatch.setattr(InProcess, "authorization_url", fail)

    @pytest.mark.parametrize(
        ("failing", "status"),
        [
            ("OAUTH_PROVIDER_DISABLED", 400),
            ("OAUTH_PROVIDER_ERROR", 400),
            ("INTERNAL_ERROR", 500),
        ],
        indirect=["failing"],
    )
    def test_failure_redirects_a_browser(self, browser, failing, status, request, front_end, oauth):
        code = request.node.callspec.params["failing"]

        opened = browser.get("oauth/acme", **OPENED)

        assert redirected(opened) == (ERRORS, {"error": code})
        assert not opened.response.cookies
        # A program and a script read JSON.
        assert browser.get("oauth/acme").error == (status, code)
        assert browser.get("oauth/acme", **{"Sec-Fetch-Mode": "cors"}).status >= 400
        oauth(ERROR_REDIRECT_URL="")
        assert browser.get("oauth/acme", **OPENED).error == (status, code)

    def test_flood_limit_redirects_a_browser(self, limited, browser, front_end):
        browser.get("oauth/acme", **OPENED)
        browser.get("oauth/acme", **OPENED)

        answer = browser.get("oauth/acme", **OPENED)

        assert redirected(answer) == (ERRORS, {"error": "TOO_MANY_REQUESTS"})
        assert 0 < int(answer.headers["Retry-After"]) <= 60

    def test_address_that_is_not_allowed_redirects_a_browser(self, browser, front_end):
        answer = browser.get("oauth/acme?next=https://evil.example", **OPENED)

        assert redirected(answer) == (ERRORS, {"error": "VALIDATION_ERROR"})

    def test_unknown_provider_is_json(self, browser, front_end):
        assert browser.get("oauth/nowhere", **OPENED).error == (404, "OAUTH_PROVIDER_NOT_FOUND")

    def test_other_methods_are_json(self, api, front_end):
        assert api.request("DELETE", "oauth/acme", headers=OPENED).error == (401, "UNAUTHORIZED")
        assert api.request("PATCH", "oauth/acme", headers=OPENED).error[0] == 405
