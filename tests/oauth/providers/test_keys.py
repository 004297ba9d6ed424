"""The keys of a provider: which one verifies a token, and when they are fetched again."""

import json
from datetime import UTC, datetime

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from authservice.kernel.secret import Secret, b64
from authservice.oauth.provider import TokenExchangeFailed
from authservice.oauth.provider_settings import built, find_provider
from tests.oauth.providers.conftest import NONCE
from tests.oauth.providers.standin import CLIENT_ID, KEY, KID, jwk_of

OTHER = rsa.generate_private_key(public_exponent=65537, key_size=2048)


@pytest.mark.parametrize(
    ("members", "headers"),
    [
        ({"kid": KID, "alg": "RS512"}, {"kid": KID}),
        ({"kid": KID, "use": "enc"}, {"kid": KID}),
        ({"kid": "another"}, {"kid": KID}),
        ({"kid": KID, "kty": "EC"}, {"kid": KID}),
        ({"kid": KID, "n": "AQAB"}, {"kid": KID}),
        ({"kid": KID, "n": 7}, {"kid": KID}),
    ],
    ids=str,
)
def test_key_that_is_not_for_this_token_is_not_used(verify, standin, members, headers):
    standin.answers["/keys"] = {"keys": [jwk_of(KEY, **members)]}
    standin.signed_with = (KEY, "RS256", headers)

    with pytest.raises(TokenExchangeFailed):
        verify()


def test_key_that_is_published_with_its_private_part_verifies(verify, standin):
    private = json.loads(RSAAlgorithm.to_jwk(KEY))
    standin.answers["/keys"] = {"keys": [{**private, "kid": KID, "alg": "RS256", "use": "sig"}]}

    assert verify().subject == "subject-1"


@pytest.mark.parametrize(
    "keys", [[], {}, {"keys": {}}, {"keys": ["x", None]}, (500, {}), (200, b"<")]
)
def test_key_set_that_is_garbage_is_refused(verify, standin, keys):
    standin.answers["/keys"] = keys

    with pytest.raises(TokenExchangeFailed):
        verify()


def test_token_without_key_id_needs_a_single_key(verify, standin):
    standin.signed_with = (KEY, "RS256", {})
    assert verify().subject == "subject-1"

    standin.answers["/keys"] = {"keys": [jwk_of(KEY), jwk_of(OTHER)]}
    with pytest.raises(TokenExchangeFailed):
        verify_anew(standin)


def verify_anew(standin):
    """With a provider that has no keys yet."""
    built.cache_clear()
    token = Secret(standin.id_token(nonce=NONCE.reveal()))
    return find_provider("sso").verify_id_token(token, NONCE, (CLIENT_ID,))


ELLIPTIC = ec.generate_private_key(ec.SECP256R1())


EDWARDS = ed25519.Ed25519PrivateKey.generate()
EDWARDS_JWK = OKPAlgorithm.to_jwk(EDWARDS.public_key(), as_dict=True)


@pytest.mark.parametrize(
    ("key", "algorithm", "jwk"),
    [
        (KEY, "PS256", jwk_of(KEY, kid=KID)),
        (KEY, "RS512", jwk_of(KEY, kid=KID)),
        (ELLIPTIC, "ES256", ECAlgorithm.to_jwk(ELLIPTIC.public_key(), as_dict=True)),
        (EDWARDS, "EdDSA", EDWARDS_JWK),
        (EDWARDS, "EdDSA", {**EDWARDS_JWK, "alg": "Ed25519"}),
    ],
    ids=["PS256", "RS512", "ES256", "EdDSA", "Ed25519 of the key"],
)
def test_asymmetric_algorithms_are_supported(verify, standin, key, algorithm, jwk):
    standin.answers["/keys"] = {"keys": [{**jwk, "kid": KID}]}
    standin.signed_with = (key, algorithm, {"kid": KID})

    assert verify().subject == "subject-1"


@pytest.mark.parametrize("alg", [None, "Ed25519", "EdDSA"])
def test_token_may_name_its_algorithm_ed25519(verify, standin, alg):
    """The name of EdDSA with this curve in RFC 9864, which PyJWT does not sign with."""
    members = {"kid": KID} if alg is None else {"kid": KID, "alg": alg}
    standin.answers["/keys"] = {"keys": [{**EDWARDS_JWK, **members}]}
    standin.signed_with = (EDWARDS, "EdDSA", {"kid": KID})
    _, payload, _ = standin.id_token(nonce=NONCE.reveal()).split(".")
    header = b64(json.dumps({"alg": "Ed25519", "kid": KID}).encode())
    signed = f"{header}.{payload}"
    token = f"{signed}.{b64(EDWARDS.sign(signed.encode()))}"

    assert verify(token=token).subject == "subject-1"


def test_small_rsa_key_is_not_used(verify, standin):
    small = rsa.generate_private_key(public_exponent=65537, key_size=1024)
    standin.answers["/keys"] = {"keys": [jwk_of(small, kid=KID)]}
    standin.signed_with = (KEY, "RS256", {"kid": KID})

    with pytest.raises(TokenExchangeFailed):
        verify()


def test_keys_are_fetched_once(verify, standin):
    for _ in range(3):
        verify()

    assert len(standin.asked("/keys")) == 1


AWAY = ((503, {}), (200, b"<"), {}, [], {"error": "maintenance"}, {"keys": {}}, {"keys": ["x"]})


def test_keys_are_fetched_again_for_an_unknown_key_id(verify, standin, time_machine):
    time_machine.move_to(datetime.now(UTC))
    verify()
    standin.answers["/keys"] = {"keys": [jwk_of(OTHER, kid="key-2")]}
    standin.signed_with = (OTHER, "RS256", {"kid": "key-2"})
    with pytest.raises(TokenExchangeFailed):
        verify()
    assert len(standin.asked("/keys")) == 1

    time_machine.shift(61)

    assert verify().subject == "subject-1"
    assert len(standin.asked("/keys")) == 2


@pytest.mark.parametrize("answer", AWAY)
def test_keys_stay_in_use_while_the_provider_is_away(verify, standin, time_machine, answer):
    time_machine.move_to(datetime.now(UTC))
    verify()
    standin.answers["/keys"] = answer
    time_machine.shift(3700)

    assert verify().subject == "subject-1"
    assert verify().subject == "subject-1"
    assert len(standin.asked("/keys")) == 2

    time_machine.shift(61)

    assert verify().subject == "subject-1"
    assert len(standin.asked("/keys")) == 3


@pytest.mark.parametrize("answer", AWAY)
def test_keys_are_used_for_24_hours_without_the_provider(verify, standin, time_machine, answer):
    """The provider may have withdrawn a key meanwhile."""
    time_machine.move_to(datetime.now(UTC))
    verify()
    keys = standin.answers["/keys"]
    standin.answers["/keys"] = answer
    time_machine.shift(24 * 3600 - 1)
    assert verify().subject == "subject-1"

    time_machine.shift(61)
    for _ in range(2):
        with pytest.raises(TokenExchangeFailed):
            verify()
    standin.answers["/keys"] = keys
    assert verify().subject == "subject-1"


def test_keys_that_a_provider_withdraws_are_no_longer_used(verify, standin, time_machine):
    time_machine.move_to(datetime.now(UTC))
    verify()
    standin.answers["/keys"] = {"keys": []}
    time_machine.shift(3700)

    with pytest.raises(TokenExchangeFailed):
        verify()
