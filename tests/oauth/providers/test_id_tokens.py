"""ID tokens that must be refused."""

import base64
import json
from datetime import timedelta

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from authservice.kernel.secret import Secret
from authservice.oauth.provider import TokenExchangeFailed, UserInfoFailed
from tests.oauth.providers.conftest import NONCE
from tests.oauth.providers.standin import CLIENT_ID, KEY, KID, jwk_of

OTHER = rsa.generate_private_key(public_exponent=65537, key_size=2048)


PUBLIC_PEM = KEY.public_key().public_bytes(
    serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
)


def test_token_of_the_provider_is_accepted(verify):
    assert verify().email == "ann@example.com"


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://evil.test"},
        {"iss": None},
        {"iss": ""},
        {"aud": "another client"},
        {"aud": None},
        {"aud": []},
        {"aud": [CLIENT_ID, "another"]},
        {"aud": [CLIENT_ID, "another"], "azp": "another"},
        {"aud": [CLIENT_ID, "another"], "azp": ""},
        {"azp": "another"},
        {"exp": timedelta(seconds=-60)},
        {"exp": None},
        {"exp": "soon"},
        {"iat": None},
        {"iat": timedelta(seconds=300)},
        {"iat": timedelta(seconds=-700)},
        {"iat": "1700000000"},
        {"iat": -(10**400)},
        {"nbf": timedelta(seconds=300)},
        {"nonce": None},
        {"nonce": ""},
        {"nonce": "another"},
        {"nonce": "\ud800"},
        {"nonce": ["nonce of the app"]},
        {"sub": None},
    ],
    ids=str,
)
def test_token_with_a_wrong_claim_is_refused(verify, claims):
    with pytest.raises(TokenExchangeFailed):
        verify(**claims)


@pytest.mark.parametrize("subject", ["", " ", "None", "null", "undefined"])
def test_token_without_a_meaningful_subject_is_refused(verify, subject):
    with pytest.raises(UserInfoFailed):
        verify(sub=subject)


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": [CLIENT_ID]},
        {"aud": [CLIENT_ID, "another"], "azp": CLIENT_ID},
        {"azp": CLIENT_ID},
        {"azp": ""},
        {"exp": timedelta(seconds=-10)},
    ],
    ids=str,
)
def test_token_with_a_right_claim_is_accepted(verify, claims):
    assert verify(**claims).subject == "subject-1"


def test_native_client_is_accepted_as_audience_and_authorized_party(verify):
    profile = verify(audiences=(CLIENT_ID, "android"), aud=CLIENT_ID, azp="android")

    assert profile.subject == "subject-1"


def test_unsigned_token_is_refused(verify, standin):
    standin.signed_with = ("", "none", {"kid": KID})

    with pytest.raises(TokenExchangeFailed):
        verify()


@pytest.mark.parametrize("alg", ["none", "None", "NONE", "nOnE"])
def test_token_with_any_spelling_of_none_is_refused(verify, standin, alg):
    header = _b64({"alg": alg, "kid": KID})
    payload = standin.id_token(nonce=NONCE.reveal()).split(".")[1]

    with pytest.raises(TokenExchangeFailed):
        verify(token=f"{header}.{payload}.")


def _b64(content):
    return base64.urlsafe_b64encode(json.dumps(content).encode()).rstrip(b"=").decode()


@pytest.mark.parametrize(
    "secret", [PUBLIC_PEM, b"secret of client 1", b""], ids=["pem", "client", "empty"]
)
def test_token_signed_by_hmac_is_refused(verify, standin, secret):
    header, payload = (
        _b64({"alg": "HS256", "kid": KID}),
        standin.id_token(nonce=NONCE.reveal()).split(".")[1],
    )
    message = f"{header}.{payload}".encode()
    signature = jwt.get_algorithm_by_name("HS256").sign(message, secret)
    encoded = base64.urlsafe_b64encode(signature).rstrip(b"=").decode()

    with pytest.raises(TokenExchangeFailed):
        verify(token=f"{header}.{payload}.{encoded}")


def test_hmac_key_in_the_key_set_is_never_used(verify, standin):
    standin.answers["/keys"] = {"keys": [{"kty": "oct", "kid": KID, "k": "c2VjcmV0" * 8}]}
    standin.signed_with = (base64.urlsafe_b64decode("c2VjcmV0" * 8), "HS256", {"kid": KID})

    with pytest.raises(TokenExchangeFailed):
        verify()


@pytest.mark.parametrize("signer", [KEY, OTHER], ids=["own key", "key of an attacker"])
def test_token_with_an_embedded_key_is_refused(verify, standin, signer):
    standin.signed_with = (signer, "RS256", {"kid": KID, "jwk": jwk_of(signer)})

    with pytest.raises(TokenExchangeFailed):
        verify()


def test_token_that_names_a_key_set_of_its_own_is_refused(verify, standin):
    standin.answers["/evil"] = {"keys": [jwk_of(OTHER, kid="evil")]}
    standin.signed_with = (OTHER, "RS256", {"kid": "evil", "jku": f"{standin.url}/evil"})

    with pytest.raises(TokenExchangeFailed):
        verify()
    assert standin.asked("/evil") == []


def test_token_of_another_key_is_refused(verify, standin):
    standin.signed_with = (OTHER, "RS256", {"kid": KID})

    with pytest.raises(TokenExchangeFailed):
        verify()


@pytest.mark.parametrize("token", ["", "a", "a.b", "a.b.c", "....", "é.é.é", "x" * 20_000])
def test_token_that_is_garbage_is_refused(openid_provider, token):
    with pytest.raises(TokenExchangeFailed):
        openid_provider.verify_id_token(Secret(token), NONCE, (CLIENT_ID,))
