"""The state of a flow: bound to the browser and the provider, single use, and limited in time."""

from urllib.parse import urlsplit

import pytest

from authservice.core.models import OneTimeToken, Session
from authservice.oauth.provider import (
    ProviderError,
    ProviderUnreachable,
    TokenExchangeFailed,
    UserInfoFailed,
)
from tests.oauth.browsing import profile
from tests.oauth.in_process import CONSENT, office
from tests.oauth.servers import parameters_of
from tests.support.client import BASE

pytestmark = pytest.mark.django_db


@pytest.fixture
def callback(browser):
    """The address that the provider redirects the browser to, after a login was started."""
    return office.approve(browser.start(), profile())


def refused(answer, code):
    return answer.error == (400, code) and not Session.objects.exists()


def test_start_redirects_to_the_consent_screen(browser):
    answer = browser.get("oauth/acme")

    assert answer.status == 302
    asked = parameters_of(answer.headers["Location"])
    assert answer.headers["Location"].startswith(f"{CONSENT}?")
    assert asked["redirect_uri"] == "http://testserver/auth/oauth/acme/callback"
    assert all(len(asked[name]) == 43 for name in ("state", "nonce", "code_challenge"))
    assert answer.headers["Cache-Control"] == "no-store, private"


def test_head_request_starts_no_login(api):
    answer = api.request("HEAD", "oauth/acme")

    assert answer.status == 200
    assert not answer.response.cookies
    assert not OneTimeToken.objects.exists()


def test_head_request_at_the_callback_leaves_code_and_state_unused(browser, api, callback):
    parts = urlsplit(callback)
    path = f"{parts.path.removeprefix(BASE)}?{parts.query}"

    assert api.request("HEAD", path, headers=browser._headers()).status == 200
    assert not Session.objects.exists()

    assert browser.come_back(callback).status == 200


def test_redirect_url_of_the_provider_replaces_the_callback_address(browser, providers):
    providers(acme={"REDIRECT_URL": "https://app.example.com/auth/oauth/acme/callback"})

    asked = parameters_of(browser.start())

    assert asked["redirect_uri"] == "https://app.example.com/auth/oauth/acme/callback"


def test_unknown_provider_is_not_found(browser):
    assert browser.get("oauth/nowhere").error == (404, "OAUTH_PROVIDER_NOT_FOUND")
    assert browser.get("oauth/nowhere/callback").error == (404, "OAUTH_PROVIDER_NOT_FOUND")


def test_disabled_provider_is_refused(browser, providers):
    providers(acme={"ENABLED": False})

    assert browser.get("oauth/acme").error == (400, "OAUTH_PROVIDER_DISABLED")


def test_provider_disabled_since_the_start_is_refused(browser, callback, providers):
    providers(acme={"ENABLED": False})

    assert refused(browser.come_back(callback), "OAUTH_PROVIDER_DISABLED")


def test_providers_are_listed(browser, providers):
    providers(acme={}, other={"ENABLED": False})

    assert browser.get("oauth/providers").data == {
        "providers": [{"name": "acme", "enabled": True}, {"name": "other", "enabled": False}]
    }


def test_secrets_of_a_flow_are_not_stored_in_clear_text(browser):
    url = browser.start()

    row = OneTimeToken.objects.get()
    kept = f"{row.digest}{row.target_key}{row.payload}"
    asked = parameters_of(url)
    [cookie] = browser.cookies.values()
    assert not any(secret in kept for secret in (asked["state"], asked["nonce"], cookie))


def test_every_flow_has_secrets_of_its_own(browser):
    one, two = parameters_of(browser.start()), parameters_of(browser.start())

    assert not {one[name] for name in one if name != "redirect_uri"} & set(two.values())


def test_several_tabs_log_in_at_once(browser):
    first, second = (office.approve(browser.start(), profile()) for _ in range(2))

    assert browser.come_back(second).status == 200
    assert browser.come_back(first).status == 200


def test_cookie_of_a_flow_is_deleted_by_its_callback(browser, callback):
    assert [name for name in browser.cookies if "oauth" in name]

    browser.come_back(callback)

    assert [name for name in browser.cookies if "oauth" in name] == []


def test_cookie_of_a_flow_is_for_the_host_alone(browser, configure):
    configure(API_URL="https://testserver")

    [cookie] = browser.get("oauth/acme").response.cookies.values()

    assert cookie.key.startswith("__Host-authservice_oauth_")
    flags = [cookie[name] for name in ("secure", "httponly", "samesite", "max-age")]
    assert flags == [True, True, "Lax", 600]


def test_state_used_again_is_refused(browser, callback):
    browser.come_back(callback)
    before = Session.objects.count()

    assert browser.come_back(callback).error == (400, "OAUTH_STATE_USED")
    assert Session.objects.count() == before


def test_state_is_used_up_by_a_failed_callback(browser, callback):
    office.failing = TokenExchangeFailed
    browser.come_back(callback)
    office.failing = None

    assert refused(browser.come_back(callback), "OAUTH_STATE_USED")


def test_state_of_another_browser_is_refused(browser, other_browser, callback):
    """Login CSRF: the attacker makes a victim open a callback of the attacker's own login."""
    other_browser.start()

    assert refused(other_browser.come_back(callback), "OAUTH_INVALID_STATE")
    # The attacker cannot use the state of a victim up.
    assert browser.come_back(callback).status == 200


def test_cookie_of_another_flow_does_not_prove_the_browser(browser, other_browser, callback):
    other_browser.start()
    [name], [value] = list(browser.cookies), list(other_browser.cookies.values())
    other_browser.cookies = {name: value}

    assert refused(other_browser.come_back(callback), "OAUTH_INVALID_STATE")


@pytest.mark.parametrize("state", ["", "state=", "state=unknown", f"state={'a' * 43}"])
def test_missing_or_unknown_state_is_refused(browser, callback, state):
    assert refused(browser.get(f"oauth/acme/callback?code=1&{state}"), "OAUTH_INVALID_STATE")


def test_state_expires_after_its_lifetime(browser, clock, oauth):
    oauth(STATE_TTL=60)
    first, second = (office.approve(browser.start(), profile()) for _ in range(2))
    clock.forward(seconds=59)
    assert browser.come_back(first).status == 200

    clock.forward(seconds=1)

    assert browser.come_back(second).error == (400, "OAUTH_STATE_EXPIRED")


def test_callback_of_another_provider_is_refused(browser, providers):
    providers(acme={}, other={})
    address = office.approve(browser.start(), profile())

    answer = browser.come_back(address.replace("/acme/", "/other/"))

    assert refused(answer, "OAUTH_INVALID_STATE")


def test_verifier_of_another_flow_is_refused_by_the_provider(browser, callback):
    """A code that an attacker injects was issued for the verifier of another flow (RFC 7636)."""
    office.approve(browser.start(), profile("eve"))
    mine = next(code for code in office.grants if code not in callback)
    state = parameters_of(callback)["state"]

    answer = browser.get(f"oauth/acme/callback?state={state}&code={mine}")

    assert refused(answer, "OAUTH_TOKEN_EXCHANGE_FAILED")


@pytest.mark.parametrize("error", ["access_denied", "<script>alert(1)</script>", "server_error"])
def test_error_of_the_provider_is_never_repeated(browser, callback, error, caplog):
    state = parameters_of(callback)["state"]
    sent = f"state={state}&error={error}&error_description={error}&error_uri=//evil.example"

    answer = browser.get(f"oauth/acme/callback?{sent}")

    assert refused(answer, "OAUTH_PROVIDER_ERROR")
    assert error not in answer.response.content.decode() + caplog.text


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (ProviderError, "OAUTH_PROVIDER_ERROR"),
        (ProviderUnreachable, "OAUTH_PROVIDER_ERROR"),
        (TokenExchangeFailed, "OAUTH_TOKEN_EXCHANGE_FAILED"),
        (UserInfoFailed, "OAUTH_USER_INFO_FAILED"),
    ],
)
def test_failures_of_the_provider_have_fixed_codes(browser, callback, failure, code, caplog):
    office.failing = failure

    assert refused(browser.come_back(callback), code)
    assert f"acme: {failure.__name__}" in caplog.text
    assert "out of order" not in caplog.text


def test_provider_that_cannot_be_asked_at_the_start_is_an_error(browser):
    office.failing = ProviderUnreachable

    answer = browser.get("oauth/acme")

    assert refused(answer, "OAUTH_PROVIDER_ERROR")
    assert answer.body["message"].startswith("The provider does not answer.")


@pytest.mark.parametrize("purpose", ["prefetch", "preview"])
def test_prefetch_starts_and_completes_nothing(browser, callback, purpose):
    rows = OneTimeToken.objects.count()

    assert browser.get("oauth/acme", **{"Sec-Purpose": purpose}).status == 503
    assert browser.come_back(callback, **{"Sec-Purpose": purpose}).status == 503

    assert OneTimeToken.objects.count() == rows
    assert browser.come_back(callback).status == 200


def test_callback_by_post_is_refused_unless_the_provider_sends_forms(browser, callback):
    answer = browser.post_back(callback)

    assert answer.error == (405, "METHOD_NOT_ALLOWED")
    assert answer.headers["Allow"] == "GET, HEAD, OPTIONS"
    assert browser.come_back(callback).status == 200


def test_callback_by_post_logs_in_if_the_provider_sends_forms(browser, providers):
    providers(acme={"FORM_POST": True})
    address = office.approve(browser.start(), profile())

    assert browser.post_back(address).status == 200


def test_cookie_of_a_provider_that_sends_forms_is_sent_from_other_sites(
    browser, providers, configure
):
    providers(acme={"FORM_POST": True})
    configure(API_URL="https://testserver")

    [cookie] = browser.get("oauth/acme").response.cookies.values()

    assert (cookie["samesite"], cookie["secure"]) == ("None", True)


class TestStartInABrowser:
    """Other sites can embed the address, and cookies of many flows make requests too long."""

    @pytest.mark.parametrize("mode", ["no-cors", "cors", "same-origin", "websocket", "x", ""])
    def test_request_that_is_no_navigation_starts_no_flow(self, browser, mode):
        answer = browser.get("oauth/acme", **{"Sec-Fetch-Mode": mode})

        assert answer.error == (400, "VALIDATION_ERROR")
        assert not answer.response.cookies
        assert not OneTimeToken.objects.exists()

    def test_navigation_starts_a_flow(self, browser):
        assert browser.get("oauth/acme", **{"Sec-Fetch-Mode": "navigate"}).status == 302

    @pytest.mark.parametrize("api_url", ["http://testserver", "https://testserver"])
    def test_browser_keeps_ten_flows(self, browser, configure, clock, api_url):
        configure(API_URL=api_url)
        addresses = []
        for _ in range(50):
            clock.forward(seconds=1)
            addresses.append(office.approve(browser.start(), profile()))
            assert len(browser.cookies) <= 10

        # The oldest were forgotten, whatever the order in which the browser sends them.
        assert browser.come_back(addresses[-11]).error == (400, "OAUTH_INVALID_STATE")
        browser.cookies = dict(reversed(browser.cookies.items()))
        assert browser.come_back(addresses[-10]).data["status"] == "signed_in"
        assert browser.come_back(addresses[-1]).data["status"] == "signed_in"

    def test_linking_counts_as_a_flow(self, browser, api):
        token = api.sign_up()["access_token"]
        for _ in range(12):
            browser.start_linking(token)

        assert len(browser.cookies) == 10

    def test_cookies_that_are_not_ours_are_forgotten_first(self, browser):
        address = office.approve(browser.start(), profile())
        tossed = {f"authservice_oauth_{number}": "x" for number in range(30)}
        browser.cookies = {**tossed, **browser.cookies, "theme": "dark"}

        browser.start()

        assert len([name for name in browser.cookies if name != "theme"]) == 10
        assert browser.cookies["theme"] == "dark"
        assert browser.come_back(address).data["status"] == "signed_in"
