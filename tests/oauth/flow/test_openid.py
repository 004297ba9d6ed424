"""The whole flow with real OpenID providers: they check client and redirect address,
and the one built with django-oauth-toolkit the verifier too."""

import json

import pytest

from authservice.core.models import OneTimeToken, Session
from authservice.kernel.secret import seal, unseal
from authservice.oauth import state
from tests.oauth.browsing import ANN, FRONT, fragment_of
from tests.oauth.servers import parameters_of
from tests.support.mounted import mounted
from tests.support.people import deactivate, the_user
from tests.twofactor.people import Person

pytestmark = pytest.mark.django_db

CALLBACK = "http://testserver/auth/oauth/oidc/callback"


@pytest.fixture(params=["stateless", "session"], scope="module", autouse=True)
def _login_module(request):
    with mounted(login=request.param):
        yield


TOOLKIT = pytest.param("toolkit", marks=pytest.mark.slow)


@pytest.fixture(params=["openid", TOOLKIT], scope="module")
def openid(request):
    return request.getfixturevalue(request.param)


@pytest.fixture(autouse=True)
def _openid(openid, configure):
    openid.add_user("ann-at-oidc", email=ANN, email_verified=True, name="Ann Ash")
    configure(
        OAUTH={"PROVIDERS": {"oidc": openid.settings(CALLBACK)}},
        OUTBOUND={"PRIVATE_HOSTS": ["localhost"], "INSECURE_HOSTS": ["localhost"]},
    )


@pytest.fixture
def sign_in(browser, openid):
    def sign_in():
        return browser.come_back(openid.approve(browser.start("oidc"), "ann-at-oidc"))

    return sign_in


def test_user_of_a_real_provider_logs_in(sign_in, api):
    answer = sign_in()

    assert (answer.status, answer.data["is_new_user"]) == (200, True)
    assert answer.data["provider"] == "oidc"
    user = api.get("me", token=answer.data["access_token"]).data
    assert (user["email"], user["email_verified"], user["name"]) == (ANN, True, "Ann Ash")
    assert sign_in().data["is_new_user"] is False


def test_tokens_are_redirected_to_the_front_end(sign_in, oauth):
    oauth(DEFAULT_REDIRECT_URL=FRONT)

    url, values = fragment_of(sign_in())

    assert (url, set(values)) == (FRONT, {"access_token", "refresh_token"})


@pytest.fixture
def with_second_factor(sign_in, api):
    """Ann, who has logged in with the provider and enabled a second factor."""
    ann = Person(api, ANN)
    ann.token = sign_in().data["access_token"]
    ann.user_id = str(the_user().pk)
    ann.enrol()
    return ann


def test_second_factor_is_asked_for(sign_in, with_second_factor):
    data = sign_in().data

    assert "access_token" not in data
    [challenge] = data["challenges"]
    temp_token, code = challenge["data"]["temp_token"], with_second_factor.backup_codes[0]
    assert with_second_factor.verify_login(code, temp_token).status == 200


def test_second_factor_is_asked_for_in_the_fragment(sign_in, oauth, with_second_factor):
    oauth(DEFAULT_REDIRECT_URL=FRONT)

    _, values = fragment_of(sign_in())

    assert set(values) == {"challenge", "temp_token"}
    code = with_second_factor.backup_codes[0]
    assert with_second_factor.verify_login(code, values["temp_token"]).status == 200


def test_inactive_user_is_refused(sign_in, oauth):
    sign_in()
    deactivate()

    assert sign_in().error == (403, "USER_NOT_ACTIVE")
    oauth(ERROR_REDIRECT_URL=f"{FRONT}/error")
    assert parameters_of(sign_in().headers["Location"])["error"] == "USER_NOT_ACTIVE"


def test_user_who_must_verify_the_address_is_refused(sign_in, openid, oauth, configure):
    configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})
    openid.add_user("ann-at-oidc", email=ANN, email_verified=False)

    assert sign_in().error == (403, "EMAIL_NOT_VERIFIED")
    oauth(ERROR_REDIRECT_URL=f"{FRONT}/error")
    assert parameters_of(sign_in().headers["Location"])["error"] == "EMAIL_NOT_VERIFIED"
    assert not Session.objects.exists()


def test_unverified_address_is_not_linked(sign_in, openid, ann):
    openid.add_user("ann-at-oidc", email=ANN, email_verified=False)

    assert sign_in().error == (409, "OAUTH_EMAIL_EXISTS")


def test_user_who_refuses_at_the_provider_is_not_logged_in(browser, openid):
    url = browser.start("oidc")
    address = openid.deny(url)
    if "state" not in parameters_of(address):
        # oidc-provider-mock leaves it out (RFC 6749 section 4.1.2.1 requires it).
        address += f"&state={parameters_of(url)['state']}"

    assert browser.come_back(address).error == (400, "OAUTH_PROVIDER_ERROR")


def test_wrong_client_secret_is_refused_by_the_provider(browser, openid, oauth, caplog):
    client = openid.settings(CALLBACK)
    oauth(PROVIDERS={"oidc": {**client, "CLIENT_SECRET": "wrong"}})

    answer = browser.come_back(openid.approve(browser.start("oidc"), "ann-at-oidc"))

    assert refused(answer)
    assert "the token endpoint answered 401, invalid_client" in caplog.text


def test_changed_redirect_address_is_refused_by_the_provider(browser, openid, caplog):
    address = openid.approve(browser.start("oidc"), "ann-at-oidc")
    change("redirect_uri", "https://evil.example/callback")

    assert refused(browser.come_back(address))
    assert "the token endpoint answered 4" in caplog.text


# The other provider checks no verifiers.
@pytest.mark.parametrize("openid", [TOOLKIT], indirect=True)
def test_changed_verifier_is_refused_by_the_provider(browser, openid, caplog):
    address = openid.approve(browser.start("oidc"), "ann-at-oidc")
    change("code_verifier", "a-verifier-of-another-flow-that-is-as-long-as-this")

    assert refused(browser.come_back(address))
    assert "the token endpoint answered 4" in caplog.text


def test_changed_nonce_is_refused(browser, openid, caplog):
    address = openid.approve(browser.start("oidc"), "ann-at-oidc")
    change("nonce", "of another flow")

    assert refused(browser.come_back(address))
    assert "ID token refused: nonce" in caplog.text


def test_callback_in_another_browser_is_refused(browser, other_browser, openid):
    address = openid.approve(browser.start("oidc"), "ann-at-oidc")

    assert refused(other_browser.come_back(address), "OAUTH_INVALID_STATE")


def refused(answer, code="OAUTH_TOKEN_EXCHANGE_FAILED"):
    return answer.error == (400, code) and not Session.objects.exists()


def change(name, value):
    """Change a value of the only flow, as if the browser had brought another one."""
    row = OneTimeToken.objects.get()
    kept = json.loads(unseal(state._PURPOSE, row.payload["sealed"]))
    sealed = seal(state._PURPOSE, json.dumps({**kept, name: value}))
    OneTimeToken.objects.update(payload={**row.payload, "sealed": sealed})


def test_code_of_another_flow_is_refused(browser, openid):
    """Neither the verifier nor the nonce of this flow belongs to the code of the other one."""
    mine = openid.approve(browser.start("oidc"), "ann-at-oidc")
    injected = openid.approve(browser.start("oidc"), "ann-at-oidc")
    code = parameters_of(injected)["code"]

    assert refused(browser.come_back(mine.replace(parameters_of(mine)["code"], code)))


@pytest.mark.parametrize("change", [{}, {"CLIENT_SECRET": "wrong"}], ids=["success", "failure"])
def test_no_secret_of_a_flow_is_logged(browser, openid, oauth, caplog, change):
    caplog.set_level("DEBUG")
    oauth(PROVIDERS={"oidc": {**openid.settings(CALLBACK), **change}})
    url = browser.start("oidc")
    cookies = set(browser.cookies.values())
    address = openid.approve(url, "ann-at-oidc")
    data = browser.come_back(address).data

    asked, sent = parameters_of(url), parameters_of(address)
    secrets = {asked["state"], asked["nonce"], sent["code"], *cookies}
    secrets |= {data["access_token"], data["refresh_token"]} if not change else set()
    logged = [one.getMessage() for one in caplog.records if one.name != "django.db.backends"]
    assert logged or not change
    assert [text for text in logged if any(secret in text for secret in secrets)] == []
