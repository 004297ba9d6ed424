"""The callback of an OpenID provider, and the codes of native apps."""

import pytest

from authservice.kernel.secret import Secret
from authservice.oauth.provider import ProviderError, TokenExchangeFailed, UserInfoFailed
from tests.oauth.providers.conftest import new_flow


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
