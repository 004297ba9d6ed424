"""No request decides where a browser is sent: targets come from the settings alone."""

from urllib.parse import urlencode

import pytest

from authservice.core.models import Session
from authservice.oauth.models import LinkedAccount
from tests.oauth.browsing import FRONT, profile
from tests.oauth.in_process import office
from tests.oauth.servers import parameters_of

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
NAMES = ("redirect_uri", "redirect_url", "redirect_to", "next", "return_to", "callback", "url")
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
    oauth(DEFAULT_REDIRECT_URL=FRONT, ERROR_REDIRECT_URL=ERRORS)


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
