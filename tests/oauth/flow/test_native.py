"""Native apps log in with an ID token of ours, or with a code."""

import pytest

from authservice.core.models import OneTimeToken, Session
from authservice.oauth.models import LinkedAccount
from tests.oauth.browsing import ANN, profile
from tests.oauth.in_process import office
from tests.oauth.servers import parameters_of
from tests.support.client import PASSWORD
from tests.support.people import deactivate

pytestmark = pytest.mark.django_db

APP = "com.example.app"
URI = "com.example.app:/signed-in"
VERIFIER = "v" * 43


@pytest.fixture(autouse=True)
def _native(providers):
    providers(acme={"NATIVE_CLIENT_IDS": [APP], "NATIVE_REDIRECT_URIS": [URI]}, other={})


@pytest.fixture
def nonce(api):
    return api.post("oauth/acme/nonce").data["nonce"]


def with_id_token(api, nonce, who=None, *, provider="acme", audience=APP, **headers):
    token = office.id_token(who or profile(), nonce, audience)
    return api.post(f"oauth/{provider}/token", id_token=token, nonce=nonce, headers=headers)


def with_code(api, code, **changes):
    body = {"code": code, "code_verifier": VERIFIER, "redirect_uri": URI, **changes}
    return api.post("oauth/acme/token", **body)


def test_nonce_is_issued_with_its_lifetime(api):
    data = api.post("oauth/acme/nonce").data

    assert (len(data["nonce"]), data["expires_in"]) == (43, 600)
    assert data["nonce"] not in str(OneTimeToken.objects.values_list())


@pytest.mark.parametrize("audience", [APP, "our-client"])
def test_id_token_with_our_nonce_logs_in(api, nonce, audience):
    answer = with_id_token(api, nonce, audience=audience)

    assert (answer.status, answer.data["is_new_user"], answer.data["provider"]) == (
        200,
        True,
        "acme",
    )
    assert api.get("me", token=answer.data["access_token"]).data["email"] == ANN


def test_id_token_for_another_client_is_refused(api, nonce):
    answer = with_id_token(api, nonce, audience="another-app")

    assert answer.error == (400, "OAUTH_TOKEN_EXCHANGE_FAILED")


def test_id_token_is_accepted_once(api, nonce):
    token = office.id_token(profile(), nonce)
    api.post("oauth/acme/token", id_token=token, nonce=nonce)

    again = api.post("oauth/acme/token", id_token=token, nonce=nonce)

    assert again.error == (400, "OAUTH_STATE_USED")
    assert Session.objects.count() == 1


def test_id_token_with_another_nonce_is_refused(api, nonce):
    token = office.id_token(profile(), "a nonce of the attacker")

    answer = api.post("oauth/acme/token", id_token=token, nonce=nonce)

    assert answer.error == (400, "OAUTH_TOKEN_EXCHANGE_FAILED")


@pytest.mark.parametrize("given", ["", "a" * 43, "a nonce of the attacker"])
def test_nonce_that_was_not_issued_is_refused(api, given):
    assert with_id_token(api, given).error == (400, "OAUTH_INVALID_STATE")


def test_nonce_of_another_provider_is_refused(api, nonce):
    assert with_id_token(api, nonce, provider="other").error == (400, "OAUTH_INVALID_STATE")


def test_nonce_expires(api, clock):
    nonce = api.post("oauth/acme/nonce").data["nonce"]
    clock.forward(minutes=10)

    assert with_id_token(api, nonce).error == (400, "OAUTH_STATE_EXPIRED")


def test_nothing_of_a_flow_in_a_browser_is_a_nonce(api, browser):
    """An ID token with the nonce of a flow belongs to that flow alone."""
    asked = parameters_of(browser.start())
    for secret in (asked["state"], asked["nonce"], *browser.cookies.values()):
        assert with_id_token(api, secret).error == (400, "OAUTH_INVALID_STATE")


def test_code_with_its_verifier_logs_in(api):
    answer = with_code(api, office.native_code(profile(), VERIFIER, URI))

    assert (answer.status, answer.data["token_type"]) == (200, "Bearer")


@pytest.mark.parametrize("changes", [{"code_verifier": "w" * 43}, {"code": "unknown"}])
def test_code_with_a_wrong_verifier_is_refused(api, changes):
    code = changes.pop("code", "") or office.native_code(profile(), VERIFIER, URI)

    answer = with_code(api, code, **changes)

    assert answer.error == (400, "OAUTH_TOKEN_EXCHANGE_FAILED")


def test_code_without_a_verifier_is_refused_before_the_provider_is_asked(api):
    answer = with_code(api, office.native_code(profile(), "", URI), code_verifier="")

    assert answer.error == (400, "VALIDATION_ERROR")
    assert answer.data["message"] == "code_verifier: This field is required."


@pytest.mark.parametrize(
    "uri", ["", "com.example.app:/signed-in/", "https://evil.example", URI + "x"]
)
def test_redirect_address_that_is_not_listed_is_refused(api, uri):
    answer = with_code(api, office.native_code(profile(), VERIFIER, uri), redirect_uri=uri)

    assert answer.error == (400, "VALIDATION_ERROR")


@pytest.mark.parametrize("body", [{}, {"id_token": "a", "code": "b"}])
def test_exactly_one_of_id_token_and_code_is_required(api, body):
    assert api.post("oauth/acme/token", **body).error == (400, "VALIDATION_ERROR")


@pytest.mark.parametrize("path", ["nonce", "token"])
def test_provider_that_cannot_be_used_is_refused(api, providers, path):
    providers(acme={"ENABLED": False})

    assert api.post(f"oauth/acme/{path}").error == (400, "OAUTH_PROVIDER_DISABLED")
    assert api.post(f"oauth/nowhere/{path}").error == (404, "OAUTH_PROVIDER_NOT_FOUND")


def test_provider_without_id_tokens_issues_no_nonce(api, monkeypatch, nonce):
    monkeypatch.setattr("tests.oauth.in_process.InProcess.id_tokens", False)

    assert api.post("oauth/acme/nonce").error == (400, "VALIDATION_ERROR")
    assert with_id_token(api, nonce).error == (400, "VALIDATION_ERROR")


@pytest.mark.parametrize("path", ["nonce", "token"])
def test_requests_of_a_network_are_limited(api, clock, path):
    answers = [api.post(f"oauth/acme/{path}") for _ in range(21)]

    assert answers[-2].status != 429
    assert answers[-1].error == (429, "TOO_MANY_REQUESTS")


def test_inactive_user_is_refused(api, nonce, ann):
    deactivate()

    assert with_id_token(api, nonce).error == (403, "USER_NOT_ACTIVE")


def test_unverified_address_links_no_account(api, nonce, ann):
    answer = with_id_token(api, nonce, profile(email_verified=False))

    assert answer.error == (409, "OAUTH_EMAIL_EXISTS")
    assert not LinkedAccount.objects.exists()


def test_first_proof_removes_earlier_access(api, nonce):
    attacker = api.sign_up()

    assert with_id_token(api, nonce).status == 200
    assert api.get("me", token=attacker["access_token"]).status == 401


def test_request_with_a_valid_access_token_of_the_account_removes_nothing(api, nonce):
    token = api.sign_up()["access_token"]

    with_id_token(api, nonce, Authorization=f"Bearer {token}")

    assert api.get("me", token=token).status == 200
    api.log_in(password=PASSWORD)
