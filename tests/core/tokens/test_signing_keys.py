"""Keys of one's own: what each state does, and that the published ones verify our tokens."""

from functools import cache

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from tests import forging

pytestmark = pytest.mark.django_db

JWKS = ".well-known/jwks.json"
REFUSED = (401, "INVALID_TOKEN")
# RFC 7638 section 3.1
EXAMPLE_N = (
    "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWK"
    "RXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMic"
    "AtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3"
    "XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"
)
EXAMPLE_THUMBPRINT = "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"

MAKE = {
    "EdDSA": ed25519.Ed25519PrivateKey.generate,
    "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "RS256": lambda: rsa.generate_private_key(65537, 2048),
}


def private_pem(key):
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()


def public_pem(key):
    return key.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    ).decode()


def entry(alg, key, state="active"):
    return {"alg": alg, "private_key": private_pem(key), "state": state}


def own(alg, key, state="retired"):
    return {"alg": alg, "public_key": public_pem(key.public_key()), "state": state}


@pytest.fixture(params=MAKE)
def alg(request):
    return request.param


@pytest.fixture
def keys(alg):
    return pair(alg)


@cache
def pair(alg):
    """Two keys, made once: primes take longer to find than all the rest."""
    return [MAKE[alg]() for _ in range(2)]


def test_a_token_is_signed_by_the_active_key(api, configure, alg, keys):
    configure(SIGNING_KEYS=[entry(alg, keys[0])])

    token = api.sign_up()["access_token"]

    assert forging.header(token)["alg"] == alg
    assert api.get("me", token=token).status == 200


def test_the_published_key_verifies_it_with_a_library(api, configure, alg, keys):
    configure(SIGNING_KEYS=[entry(alg, keys[0])])
    token = api.sign_up()["access_token"]

    published = jwt.PyJWKSet.from_dict(api.get(JWKS).body)
    key = published[forging.header(token)["kid"]]
    said = jwt.decode(token, key, [alg], audience="authservice", issuer="http://testserver")

    assert said["typ"] == "access"


def test_a_published_key_has_only_public_members(api, configure, alg, keys):
    configure(SIGNING_KEYS=[entry(alg, keys[0])])

    (published,) = api.get(JWKS).body["keys"]

    members = {"EdDSA": {"crv", "x"}, "ES256": {"crv", "x", "y"}, "RS256": {"n", "e"}}
    assert set(published) == {"kty", "kid", "use", "alg"} | members[alg]
    assert (published["use"], published["alg"]) == ("sig", alg)


def test_the_next_key_is_published_but_does_not_sign(api, configure, alg, keys):
    configure(SIGNING_KEYS=[entry(alg, keys[0]), entry(alg, keys[1], "next")])
    active, following = (one["kid"] for one in api.get(JWKS).body["keys"])

    assert active != following
    assert forging.header(api.sign_up()["access_token"])["kid"] == active


def test_a_retired_key_still_verifies(api, configure, alg, keys):
    configure(SIGNING_KEYS=[entry(alg, keys[0]), entry(alg, keys[1], "next")])
    token = api.sign_up()["access_token"]

    configure(SIGNING_KEYS=[own(alg, keys[0]), entry(alg, keys[1])])

    assert api.get("me", token=token).status == 200
    assert forging.header(api.log_in()["access_token"])["kid"] != forging.header(token)["kid"]


def test_a_key_that_is_gone_verifies_no_more(api, configure, alg, keys):
    configure(SIGNING_KEYS=[entry(alg, keys[0])])
    token = api.sign_up()["access_token"]

    configure(SIGNING_KEYS=[entry(alg, keys[1])])

    assert api.get("me", token=token).error == REFUSED


def test_a_token_of_the_derived_key_is_refused_beside_signing_keys(api, configure, alg, keys):
    token = api.sign_up()["access_token"]

    configure(SIGNING_KEYS=[entry(alg, keys[0])])

    assert api.get("me", token=token).error == REFUSED


@pytest.mark.parametrize("claimed", ["HS256", None])
def test_hmac_with_the_public_key_is_refused(api, configure, alg, keys, claimed):
    configure(SIGNING_KEYS=[entry(alg, keys[0])])
    token = api.sign_up()["access_token"]
    pem = public_pem(keys[0].public_key())
    raw = (
        keys[0]
        .public_key()
        .public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    )

    for secret in (pem.encode(), pem.strip().encode(), raw):
        forged = forging.changed(token, head={"alg": claimed or alg}, signer=forging.hs256(secret))
        assert api.get("me", token=forged).error == REFUSED


def test_a_key_of_one_algorithm_does_not_verify_for_another(api, configure):
    mixed = {name: make() for name, make in MAKE.items()}
    entries = [entry(name, key, "next") for name, key in mixed.items()]
    configure(SIGNING_KEYS=[{**entries[0], "state": "active"}, *entries[1:]])
    token = api.sign_up()["access_token"]
    kids = {one["alg"]: one["kid"] for one in api.get(JWKS).body["keys"]}

    for name in ("ES256", "RS256"):
        forged = forging.changed(token, head={"kid": kids[name], "alg": name})
        assert api.get("me", token=forged).error == REFUSED


def test_a_kid_is_the_thumbprint_of_rfc_7638(api, configure):
    numbers = rsa.RSAPublicNumbers(65537, int.from_bytes(forging.unb64(EXAMPLE_N), "big"))
    example = {"alg": "RS256", "public_key": public_pem(numbers.public_key()), "state": "retired"}
    configure(SIGNING_KEYS=[entry("EdDSA", MAKE["EdDSA"]()), example])

    assert api.get(JWKS).body["keys"][1]["kid"] == EXAMPLE_THUMBPRINT


def test_the_kid_of_an_okp_key_is_the_thumbprint_of_rfc_8037(api, configure):
    x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
    public = ed25519.Ed25519PublicKey.from_public_bytes(forging.unb64(x))
    example = {"alg": "EdDSA", "public_key": public_pem(public), "state": "retired"}
    configure(SIGNING_KEYS=[entry("ES256", MAKE["ES256"]()), example])

    published = api.get(JWKS).body["keys"][1]
    assert published["kid"] == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"


def test_a_kid_can_be_given(api, configure, alg, keys):
    configure(SIGNING_KEYS=[{**entry(alg, keys[0]), "kid": "summer"}])

    assert forging.header(api.sign_up()["access_token"])["kid"] == "summer"


def test_no_private_member_is_ever_published(api, configure, alg, keys):
    configure(SIGNING_KEYS=[entry(alg, keys[0])])

    assert not {"d", "p", "q", "dp", "dq", "qi", "k"} & set(api.get(JWKS).body["keys"][0])
