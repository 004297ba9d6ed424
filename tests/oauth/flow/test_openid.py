"""The whole flow with a real OpenID provider: it checks client, redirect address and verifier."""

import json
from urllib.parse import urlsplit

import pytest

from authservice.core.models import OneTimeToken, Session
from authservice.kernel import crypto
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
    user = api.get("me", token=answer.data["access_token"]).data
    assert (user["email"], user["email_verified"], user["name"]) == (ANN, True, "Ann Ash")
    assert sign_in().data["is_new_user"] is False


def test_tokens_are_redirected_to_the_front_end(sign_in, oauth):
    oauth(DEFAULT_REDIRECT_URL=FRONT)

    url, values = fragment_of(sign_in())

    assert (url, set(values)) == (FRONT, {"access_token", "refresh_token"})


def test_second_factor_is_asked_for_in_the_fragment(sign_in, oauth, api):
    oauth(DEFAULT_REDIRECT_URL=FRONT)
    ann = Person(api, ANN)
    ann.token = fragment_of(sign_in())[1]["access_token"]
    ann.user_id = str(the_user().pk)
    ann.enrol()

    _, values = fragment_of(sign_in())

    assert set(values) == {"challenge", "temp_token"}
    assert ann.verify_login(ann.backup_codes[0], values["temp_token"]).status == 200


def test_inactive_user_is_refused(sign_in):
    sign_in()
    deactivate()

    assert sign_in().error == (403, "USER_NOT_ACTIVE")


def test_unverified_address_is_not_linked(sign_in, openid, ann):
    openid.add_user("ann-at-oidc", email=ANN, email_verified=False)

    assert sign_in().error == (409, "OAUTH_EMAIL_EXISTS")


def test_user_who_refuses_at_the_provider_is_not_logged_in(browser, openid):
    url = browser.start("oidc")
    # This provider leaves the state out of its error (RFC 6749 section 4.1.2.1 requires it).
    answer = browser.come_back(f"{openid.deny(url)}&state={parameters_of(url)['state']}")

    assert answer.error == (400, "OAUTH_PROVIDER_ERROR")


def test_wrong_client_secret_is_refused_by_the_provider(browser, openid, oauth):
    client = openid.settings(CALLBACK)
    oauth(PROVIDERS={"oidc": {**client, "CLIENT_SECRET": "wrong"}})

    answer = browser.come_back(openid.approve(browser.start("oidc"), "ann-at-oidc"))

    assert answer.error == (400, "OAUTH_TOKEN_EXCHANGE_FAILED")
    assert not Session.objects.exists()


@pytest.mark.parametrize("name", ["nonce", "redirect_uri"])
def test_changed_nonce_or_redirect_address_is_refused(browser, openid, name):
    address = openid.approve(browser.start("oidc"), "ann-at-oidc")
    change(name, "https://evil.example/callback")

    assert browser.come_back(address).error == (400, "OAUTH_TOKEN_EXCHANGE_FAILED")
    assert not Session.objects.exists()


def change(name, value):
    """Change a value of the only flow, as if the browser had brought another one."""
    row = OneTimeToken.objects.get()
    kept = json.loads(crypto.unseal(state._PURPOSE, row.payload["sealed"]))
    sealed = crypto.seal(state._PURPOSE, json.dumps({**kept, name: value}))
    OneTimeToken.objects.update(payload={**row.payload, "sealed": sealed})


def test_code_of_another_flow_is_refused(browser, openid):
    """PKCE: the verifier of this flow does not belong to the code of the other one."""
    mine = openid.approve(browser.start("oidc"), "ann-at-oidc")
    injected = openid.approve(browser.start("oidc"), "ann-at-oidc")
    mixed = f"state={parameters_of(mine)['state']}&code={parameters_of(injected)['code']}"

    answer = browser.come_back(f"{urlsplit(CALLBACK).path}?{mixed}")

    assert answer.error == (400, "OAUTH_TOKEN_EXCHANGE_FAILED")


def test_no_secret_of_a_flow_is_logged(browser, openid, caplog):
    caplog.set_level("DEBUG")
    url = browser.start("oidc")
    address = openid.approve(url, "ann-at-oidc")
    answer = browser.come_back(address)

    secrets = {
        parameters_of(url)["state"],
        parameters_of(url)["nonce"],
        parameters_of(address)["code"],
        answer.data["access_token"],
        answer.data["refresh_token"],
    }
    ours = [one.getMessage() for one in caplog.records if one.name.startswith("authservice")]
    assert [text for text in ours if any(secret in text for secret in secrets)] == []
