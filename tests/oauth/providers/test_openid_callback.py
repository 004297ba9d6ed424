"""The callback of an OpenID provider, and the codes of native apps."""

import hashlib

import pytest

from authservice.kernel.secret import Secret, b64
from authservice.oauth.provider import ProviderError, TokenExchangeFailed, UserInfoFailed
from tests.oauth.browsing import ANN
from tests.oauth.providers.conftest import new_flow
from tests.oauth.providers.standin import KEY, KID, jwk_of


def test_callback_compares_the_nonce_of_the_flow(openid_provider, log_in, standin):
    assert log_in(openid_provider).profile.subject == "subject-1"

    standin.claims["nonce"] = "of another flow"
    with pytest.raises(TokenExchangeFailed):
        log_in(openid_provider)


def test_callback_without_id_token_is_refused(openid_provider, log_in, standin):
    standin.claims = None

    with pytest.raises(TokenExchangeFailed):
        log_in(openid_provider)


def test_callback_refuses_the_token_of_a_native_app(openid_provider, log_in, standin):
    standin.claims["azp"] = "android"

    with pytest.raises(TokenExchangeFailed):
        log_in(openid_provider)


def test_profile_of_another_user_is_refused(openid_provider, log_in, standin):
    standin.claims = {"sub": "ann"}
    standin.answers["/user"] = {"sub": "bob", "email": "bob@example.com", "email_verified": True}

    with pytest.raises(UserInfoFailed):
        log_in(openid_provider)


def test_claims_of_the_id_token_win_over_the_user_info(openid_provider, log_in, standin):
    standin.claims = {"sub": "ann", "name": "Ann"}
    standin.answers["/user"] = {"sub": "ann", "name": "Bob", "email": "ann@example.com"}
    profile = log_in(openid_provider).profile

    assert (profile.name, profile.email) == ("Ann", "ann@example.com")
    assert profile.email_verified is False


def test_verified_flag_belongs_to_the_address_beside_it(openid_provider, log_in, standin):
    standin.claims = {"sub": "ann", "email_verified": True}
    standin.answers["/user"] = {"sub": "ann", "email": ANN, "email_verified": False}
    assert log_in(openid_provider).profile.email_verified is False

    standin.claims["email_verified"] = False
    standin.answers["/user"]["email_verified"] = True
    assert log_in(openid_provider).profile.email_verified is True


@pytest.mark.parametrize(("algorithm", "size"), [("RS256", 256), ("PS384", 384), ("RS512", 512)])
def test_hash_of_the_access_token_is_compared(openid_provider, log_in, standin, algorithm, size):
    standin.answers["/keys"] = {"keys": [jwk_of(KEY, kid=KID)]}
    standin.signed_with = (KEY, algorithm, {"kid": KID})
    digest = hashlib.new(f"sha{size}", b"access-1").digest()

    standin.claims["at_hash"] = b64(digest[: size // 16])
    assert log_in(openid_provider).profile.subject == "subject-1"

    for wrong in (b64(hashlib.sha256(b"another").digest()[:16]), b64(digest), "", 7):
        standin.claims["at_hash"] = wrong
        with pytest.raises(TokenExchangeFailed):
            log_in(openid_provider)


@pytest.mark.parametrize("issuer", ["https://evil.test", "x"])
def test_callback_of_another_issuer_is_refused_before_the_code_is_sent(
    openid_provider, log_in, standin, issuer
):
    with pytest.raises(ProviderError):
        log_in(openid_provider, iss=issuer)

    assert standin.asked("/token") == []


def test_callback_with_the_own_issuer_is_accepted(openid_provider, log_in, standin):
    assert log_in(openid_provider, iss=standin.url).profile.subject == "subject-1"


def test_native_code_is_exchanged_with_its_verifier(openid_provider, standin):
    flow = new_flow("sso", redirect_uri="com.example.app:/callback")
    callback = standin.approve(openid_provider.authorization_url(flow))

    result = openid_provider.exchange_native(
        Secret(callback["code"]), flow.code_verifier, flow.redirect_uri
    )

    assert result.profile.subject == "subject-1"


def test_native_code_with_a_wrong_verifier_is_refused(openid_provider, standin):
    flow = new_flow("sso")
    callback = standin.approve(openid_provider.authorization_url(flow))

    with pytest.raises(TokenExchangeFailed):
        openid_provider.exchange_native(
            Secret(callback["code"]), new_flow("sso").code_verifier, flow.redirect_uri
        )
