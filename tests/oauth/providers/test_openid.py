"""Generic OpenID Connect: a real provider, and metadata that must be refused."""

from datetime import UTC, datetime

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from authservice.kernel.secret import Secret
from authservice.oauth.provider import ProviderError, TokenExchangeFailed
from authservice.oauth.provider_settings import built
from tests.oauth.providers.conftest import CALLBACK, new_flow
from tests.oauth.providers.standin import KID, jwk_of
from tests.oauth.servers import parameters_of

REDIRECT = CALLBACK.format("sso")


@pytest.fixture
def sso(provider, openid):
    openid.add_user("ann", email="ann@example.com", email_verified=True, name="Ann Lee")
    return lambda **more: provider("sso", **{**openid.settings(REDIRECT), **more})


def log_in(openid, provider, subject="ann", **changes):
    flow = new_flow("sso")
    callback = parameters_of(openid.approve(provider.authorization_url(flow), subject))
    assert callback["state"] == flow.state.reveal()
    changed = new_flow(
        "sso", **{"nonce": flow.nonce, "code_verifier": flow.code_verifier, **changes}
    )
    return provider.complete(callback, changed)


def test_user_of_a_real_provider_logs_in(sso, openid):
    result = log_in(openid, sso())

    assert result.profile.subject == "ann"
    assert (result.profile.email, result.profile.email_verified) == ("ann@example.com", True)
    assert result.profile.name == "Ann Lee"
    assert result.tokens.expires_at is not None


def test_unverified_address_of_a_real_provider_stays_unverified(sso, openid):
    openid.add_user("bob", email="bob@example.com", email_verified=False)

    assert log_in(openid, sso(), "bob").profile.email_verified is False


def test_wrong_client_secret_is_refused_by_the_provider(sso, openid):
    with pytest.raises(TokenExchangeFailed):
        log_in(openid, sso(CLIENT_SECRET="wrong"))


def test_wrong_redirect_address_is_refused_by_the_provider(sso, openid):
    with pytest.raises(TokenExchangeFailed):
        log_in(openid, sso(), redirect_uri="http://testserver/elsewhere")


def test_wrong_nonce_is_refused(sso, openid):
    with pytest.raises(TokenExchangeFailed):
        log_in(openid, sso(), nonce=Secret("another"))


def test_code_is_used_once(sso, openid):
    provider, flow = sso(), new_flow("sso")
    callback = parameters_of(openid.approve(provider.authorization_url(flow), "ann"))
    provider.complete(callback, flow)

    with pytest.raises(TokenExchangeFailed):
        provider.complete(callback, flow)


def test_refused_consent_is_an_error_of_the_provider(sso, openid):
    provider, flow = sso(), new_flow("sso")

    with pytest.raises(ProviderError):
        provider.complete(parameters_of(openid.deny(provider.authorization_url(flow))), flow)


def test_tokens_are_refreshed_at_the_provider(sso, openid):
    provider = sso()
    tokens = log_in(openid, provider).tokens

    renewed = provider.refresh(tokens.refresh_token)

    assert renewed.access_token.reveal()
    assert renewed.access_token != tokens.access_token
    with pytest.raises(TokenExchangeFailed):
        provider.refresh(Secret("unknown"))


# Metadata


@pytest.fixture
def discovered(provider, standin):
    """`discovered(member=…)`: a provider that knows the issuer alone, with these metadata."""
    standin.claims = {"email": "ann@example.com"}

    def build(**metadata):
        standin.discover(**metadata)
        return provider(
            "sso", ISSUER=standin.url, CLIENT_ID="client-1", CLIENT_SECRET="secret of client 1"
        )

    return build


@pytest.fixture
def go(standin):
    def complete(provider, **parameters):
        flow = new_flow("sso")
        callback = standin.approve(provider.authorization_url(flow))
        return provider.complete({**callback, **parameters}, flow)

    return complete


def test_metadata_are_read_once(discovered, standin, go):
    provider = discovered()
    go(provider)
    go(provider)

    assert len(standin.asked("/.well-known/openid-configuration")) == 1


@pytest.mark.parametrize("answer", [(500, {}), {"issuer": "https://evil.test"}, []], ids=str)
def test_metadata_stay_in_use_while_they_cannot_be_read(
    discovered, standin, go, time_machine, answer
):
    time_machine.move_to(datetime.now(UTC))
    provider = discovered()
    go(provider)
    standin.answers["/.well-known/openid-configuration"] = answer
    time_machine.shift(3700)

    assert go(provider).profile.subject == "subject-1"


def test_keys_at_an_address_that_the_provider_has_left_are_not_used(
    discovered, standin, go, time_machine
):
    time_machine.move_to(datetime.now(UTC))
    provider, former = discovered(), standin.answers["/keys"]
    go(provider)
    left = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    standin.answers["/new-keys"] = {"keys": [jwk_of(left, kid=KID, alg="RS256")]}
    standin.discover(jwks_uri=f"{standin.url}/new-keys")
    time_machine.shift(3700)

    assert standin.answers["/keys"] == former
    with pytest.raises(TokenExchangeFailed):
        go(provider)
    standin.signed_with = (left, "RS256", {"kid": KID})
    assert go(provider).profile.subject == "subject-1"


def test_metadata_of_another_issuer_are_refused(discovered):
    with pytest.raises(ProviderError):
        discovered(issuer="https://evil.test").authorization_url(new_flow("sso"))


HOSTILE = (
    "javascript:alert(1)", "data:text/html,x", "//evil.example", "https:evil.example", "https://",
    "https://sso.example@evil.example/", "https://sso.example/#", "https://sso.example/\r\nx: y",
    "\thttps://evil.example", "https://sso.example/ x", "https://sso。example/", "https://[x/",
)  # fmt: skip


@pytest.mark.parametrize(
    "metadata",
    [
        {"token_endpoint": None},
        {"token_endpoint": "file:///x"},
        {"jwks_uri": 7},
        *({"authorization_endpoint": url} for url in HOSTILE),
    ],
    ids=str,
)
def test_metadata_without_usable_endpoints_are_refused(discovered, go, metadata):
    with pytest.raises(ProviderError):
        go(discovered(**metadata))


def test_metadata_that_send_the_code_into_the_private_network_are_refused(discovered, go):
    with pytest.raises(ProviderError):
        go(discovered(token_endpoint="https://169.254.169.254/latest/meta-data/"))


@pytest.mark.parametrize("answer", [(500, {}), (200, b"<html>"), [], (302, {})])
def test_metadata_that_cannot_be_read_are_an_error(discovered, standin, answer):
    provider = discovered()
    standin.answers["/.well-known/openid-configuration"] = answer

    with pytest.raises(ProviderError):
        provider.authorization_url(new_flow("sso"))


@pytest.mark.parametrize(
    ("methods", "basic"),
    [
        (None, True),
        (["client_secret_basic", "client_secret_post"], True),
        (["client_secret_post"], False),
    ],
)
def test_client_authenticates_as_the_metadata_say(discovered, standin, go, methods, basic):
    more = {"token_endpoint_auth_methods_supported": methods} if methods else {}
    go(discovered(**more))
    [(headers, form)] = [(sent[2], sent[3]) for sent in standin.requests if sent[1] == "/token"]

    assert ("Authorization" in headers) == basic
    assert ("client_secret" in form) == (not basic)


def test_issuer_that_the_provider_promises_is_required(discovered, standin, go):
    provider = discovered(authorization_response_iss_parameter_supported=True)

    assert go(provider, iss=standin.url).profile.subject == "subject-1"
    with pytest.raises(ProviderError):
        go(provider)


def test_issuer_of_an_error_is_checked_too(discovered, standin):
    provider = discovered(authorization_response_iss_parameter_supported=True)

    with pytest.raises(ProviderError, match="issuer"):
        provider.complete({"error": "access_denied"}, new_flow("sso"))


def test_public_client_sends_no_secret(provider, standin, go, monkeypatch):
    standin.claims = {"email": "ann@example.com"}
    standin.discover()
    monkeypatch.setattr("tests.oauth.providers.standin.CLIENT_SECRET", None)
    built.cache_clear()

    result = go(provider("sso", ISSUER=standin.url, CLIENT_ID="client-1"))

    assert result.profile.subject == "subject-1"
    assert "client_secret" not in standin.asked("/token")[0]
    assert "code_verifier" in standin.asked("/token")[0]
