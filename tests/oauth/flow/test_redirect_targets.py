"""No request decides where a browser is sent: targets come from the settings alone. `next` chooses
one of them."""

from urllib.parse import unquote, urlencode

import pytest

from authservice.core.models import OneTimeToken, Session
from authservice.kernel.interfaces import Challenge
from authservice.kernel.secret import Secret
from authservice.oauth.models import LinkedAccount
from tests.oauth.browsing import FRONT, profile
from tests.oauth.in_process import office
from tests.oauth.servers import parameters_of
from tests.support.slots import asking

pytestmark = pytest.mark.django_db

CALLBACK = "http://testserver/auth/oauth/acme/callback"
ERRORS = f"{FRONT}/error"
VERIFIER = "v" * 43
# Each fools another way to compare it with https://app.example.com/signed-in, or to read it.
HOSTILE = (
    # another host, with and without its scheme
    "https://evil.example/signed-in", "//evil.example", "///evil.example", "/\\evil.example",
    "\\\\evil.example", "https:evil.example", "https:/evil.example", "http:///evil.example",
    # user info
    "https://app.example.com@evil.example/signed-in", "https://app.example.com:443@evil.example/",
    "https://app.example.com%40evil.example/", "https://evil.example\\@app.example.com/signed-in",
    # prefixes and suffixes of the host, and what becomes one if it is appended
    "https://app.example.com.evil.example/signed-in", "https://evilapp.example.com/signed-in",
    "https://example.com/signed-in", "https://evil.app.example.com/signed-in", ".evil.example",
    "@evil.example", "https://*.example.com/signed-in", "https://app.example.com./signed-in",
    # another origin of the same host
    "http://app.example.com/signed-in", "https://app.example.com:8443/signed-in",
    # other spellings
    "HTTPS://APP.EXAMPLE.COM/SIGNED-IN", "https://app.example.com/%73igned-in",
    "https://app.example.com/signed-in ", " https://app.example.com/signed-in",
    "%68ttps%3a%2f%2fevil.example", "%2f%2fevil.example", "https://app.example.com/signed-in%0d%0a",
    # other paths, queries and fragments
    "https://app.example.com/signed-in/", "https://app.example.com/signed-in/../evil",
    "https://app.example.com/signed-in/..%2f..%2fevil", "https://app.example.com//evil.example",
    "https://app.example.com/signed-in?next=//evil.example", "https://app.example.com/signed-in#x",
    "https://evil.example/#https://app.example.com/signed-in", "#access_token=x",
    "https://evil.example?https://app.example.com/signed-in", "https://evil.example#@app.example.com",
    # control characters
    "\thttps://evil.example", "java\tscript:alert(1)", "https://evil.example\x00.app.example.com",
    "https://app.example.com/signed-in\r\nLocation: https://evil.example",
    # Unicode that looks like, or is normalised to, something else
    "https://app。example.com/signed-in", "https://evil.example／app.example.com",
    "https://\u0430pp.example.com/signed-in", "https://app.example.com/signed-in\u200b",
    "https://evil.example\u2044@app.example.com",
    # addresses of the service's own network
    "https://[::1]/signed-in", "https://[::ffff:169.254.169.254]/", "https://2130706433/",
    # other schemes
    "javascript:alert(1)", "JaVaScRiPt://app.example.com/%0aalert(1)", "vbscript:x",
    "data:text/html,<script>alert(1)</script>", "file:///etc/passwd", "ftp://app.example.com",
    "blob:https://app.example.com/x", "view-source:https://app.example.com/signed-in",
)  # fmt: skip
NAMES = ("redirect_uri", "redirect_url", "redirect_to", "return_to", "callback", "url")
CART = "https://app.example.com/cart?step=2"
HEADERS = (
    {"Host": "evil.example"},
    {"Host": "evil.example:443"},
    {"X-Forwarded-Host": "evil.example"},
    {"X-Forwarded-Host": "evil.example:8443"},
    {"Forwarded": "host=evil.example;proto=https"},
    {"X-Forwarded-Proto": "https", "X-Forwarded-Port": "8443"},
    {"X-Forwarded-Prefix": "//evil.example", "X-Original-URL": "//evil.example"},
    {"Referer": "https://evil.example/", "Origin": "https://evil.example"},
)


@pytest.fixture(autouse=True)
def _targets(oauth, providers):
    providers(acme={"NATIVE_REDIRECT_URIS": [FRONT]}, form={"FORM_POST": True})
    oauth(DEFAULT_REDIRECT_URL=FRONT, ERROR_REDIRECT_URL=ERRORS, RETURN_URLS=[CART])


def test_there_are_more_than_40_targets():
    assert len(set(HOSTILE)) == len(HOSTILE) > 40


@pytest.mark.parametrize("target", HOSTILE)
def test_no_parameter_of_a_login_is_a_target(browser, target):
    more = urlencode(dict.fromkeys(NAMES, target))
    started = browser.get(f"oauth/acme?{more}").headers["Location"]
    address = office.approve(started, profile())

    done = browser.come_back(f"{address}&{more}").headers["Location"]
    again = browser.come_back(f"{address}&{more}").headers["Location"]

    assert parameters_of(started)["redirect_uri"] == CALLBACK
    assert done.startswith(f"{FRONT}#access_token=")
    assert again.startswith(f"{ERRORS}?error=OAUTH_STATE_USED&")


@pytest.mark.parametrize("target", HOSTILE)
def test_no_field_of_a_form_is_a_target(browser, target):
    more = urlencode(dict.fromkeys(NAMES, target))
    address = office.approve(browser.start("form"), profile())

    done = browser.post_back(f"{address}&{more}").headers["Location"]
    again = browser.post_back(f"{address}&{more}").headers["Location"]

    assert done.startswith(f"{FRONT}#access_token=")
    assert again.startswith(f"{ERRORS}?error=OAUTH_STATE_USED&")


def test_no_field_of_linking_is_a_target(browser, api):
    token = api.sign_up()["access_token"]
    for target in HOSTILE:
        started = browser.start_linking(token, **dict.fromkeys(NAMES, target)).data["url"]

        assert parameters_of(started)["redirect_uri"] == CALLBACK

    more = urlencode(dict.fromkeys(NAMES, HOSTILE[0]))
    done = browser.come_back(f"{office.approve(started, profile())}&{more}")
    assert done.headers["Location"] == f"{FRONT}#linked=acme"


class TestNext:
    @pytest.mark.parametrize("target", HOSTILE)
    def test_login_may_not_return_to_another_address(self, browser, target):
        answer = browser.get(f"oauth/acme?{urlencode({'next': target})}")

        assert answer.error == (400, "VALIDATION_ERROR")
        assert answer.data["message"].startswith("next: ")
        assert not answer.response.cookies
        assert not OneTimeToken.objects.exists()

    @pytest.mark.parametrize("target", HOSTILE)
    def test_linking_may_not_return_to_another_address(self, browser, api, target):
        token = api.sign_up()["access_token"]

        answer = browser.start_linking(token, next=target)

        assert answer.error == (400, "VALIDATION_ERROR")
        assert answer.data["message"].startswith("next: ")
        assert not answer.response.cookies

    @pytest.mark.parametrize(
        "target",
        [
            CART + "&x",
            CART[:-1],
            CART.replace("?", "%3F"),
            CART.replace("step=2", "step=2#"),
            CART.replace("2", "\uff12"),
            "https://app.example.com/cart",
            "/cart?step=2",
            "//app.example.com/cart?step=2",
            ERRORS,
        ],
    )
    def test_address_that_is_like_an_allowed_one_is_refused(self, browser, target):
        answer = browser.get(f"oauth/acme?{urlencode({'next': target})}")

        assert answer.error == (400, "VALIDATION_ERROR")

    @pytest.mark.parametrize(
        ("target", "page"), [(CART, CART), (FRONT, FRONT), ("", FRONT), (None, FRONT)]
    )
    def test_login_returns_to_an_allowed_address(self, browser, target, page):
        query = "" if target is None else f"?{urlencode({'next': target})}"
        started = browser.get(f"oauth/acme{query}").headers["Location"]
        # A parameter of the redirect of the provider changes nothing.
        address = f"{office.approve(started, profile())}&{urlencode({'next': ERRORS})}"

        done = browser.come_back(address).headers["Location"]

        assert CART not in unquote(started)
        assert done.startswith(f"{page}#access_token=")

    def test_linking_returns_to_an_allowed_address(self, browser, api):
        token = api.sign_up()["access_token"]
        started = browser.start_linking(token, next=CART).data["url"]

        done = browser.come_back(office.approve(started, profile()))

        assert done.headers["Location"] == f"{CART}#linked=acme"

    def test_challenge_arrives_at_the_allowed_address(self, browser):
        started = browser.get(f"oauth/acme?{urlencode({'next': CART})}").headers["Location"]
        asked = {"requires_2fa": True, "user_id": "1", "message": "", "temp_token": Secret("t")}
        with asking(lambda arrival: Challenge("2fa", asked)):
            done = browser.come_back(office.approve(started, profile()))

        assert done.headers["Location"] == f"{CART}#challenge=2fa&temp_token=t"

    def test_failed_login_leads_to_the_error_page(self, browser):
        started = browser.get(f"oauth/acme?{urlencode({'next': CART})}").headers["Location"]
        address = office.approve(started, profile())
        browser.come_back(address)

        again = browser.come_back(address).headers["Location"]

        assert again.startswith(f"{ERRORS}?error=OAUTH_STATE_USED&")

    def test_address_that_the_settings_no_longer_have_is_not_used(self, browser, oauth):
        started = browser.get(f"oauth/acme?{urlencode({'next': CART})}").headers["Location"]
        oauth(RETURN_URLS=[])

        done = browser.come_back(office.approve(started, profile())).headers["Location"]

        assert done.startswith(f"{FRONT}#access_token=")

    def test_service_without_a_default_page_returns_to_the_allowed_one(self, browser, oauth):
        oauth(DEFAULT_REDIRECT_URL="")
        started = browser.get(f"oauth/acme?{urlencode({'next': CART})}").headers["Location"]

        done = browser.come_back(office.approve(started, profile())).headers["Location"]

        assert done.startswith(f"{CART}#access_token=")


@pytest.mark.parametrize("target", HOSTILE)
def test_redirect_address_of_a_native_app_must_be_one_of_the_settings(api, target):
    """The code was issued for that address, so the provider would accept it."""
    code = office.native_code(profile(), VERIFIER, target)

    answer = api.post("oauth/acme/token", code=code, code_verifier=VERIFIER, redirect_uri=target)

    assert answer.error == (400, "VALIDATION_ERROR")
    assert not Session.objects.exists()
    assert not LinkedAccount.objects.exists()


@pytest.mark.parametrize("headers", HEADERS, ids=str)
@pytest.mark.parametrize("trusting", [False, True])
def test_headers_change_no_target(browser, api, settings, headers, trusting):
    """Also if the project accepts every host, and those that a proxy names."""
    settings.ALLOWED_HOSTS, settings.USE_X_FORWARDED_HOST = ["*"], trusting
    token = api.sign_up()["access_token"]

    started = browser.get("oauth/acme", **headers).headers["Location"]
    linking = api.post("oauth/acme/link", token=token, headers=headers).data["url"]
    address = office.approve(started, profile("new", "new@example.com"))
    done = browser.come_back(address, **headers).headers["Location"]
    again = browser.come_back(address, **headers).headers["Location"]

    assert {parameters_of(url)["redirect_uri"] for url in (started, linking)} == {CALLBACK}
    assert done.startswith(f"{FRONT}#access_token=")
    assert again.startswith(f"{ERRORS}?error=OAUTH_STATE_USED&")


@pytest.mark.parametrize("headers", HEADERS[:4], ids=str)
def test_cookie_of_a_flow_has_no_domain(browser, settings, headers):
    settings.ALLOWED_HOSTS, settings.USE_X_FORWARDED_HOST = ["*"], True

    [cookie] = browser.get("oauth/acme", **headers).response.cookies.values()

    assert (cookie["domain"], cookie["path"]) == ("", "/")
