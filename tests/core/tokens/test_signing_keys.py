"""Configured signing keys: the effect of each state, and that published keys verify tokens."""

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa

from tests.hosts.runs import python
from tests.support import forging
from tests.support.key_pairs import MAKE, entry, pair, public_entry, public_pem

pytestmark = pytest.mark.django_db

JWKS = ".well-known/jwks.json"
REFUSED = (401, "INVALID_TOKEN")
EXPIRED = (401, "TOKEN_EXPIRED")
# RFC 7638 section 3.1
EXAMPLE_N = (
    "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWK"
    "RXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMic"
    "AtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3"
    "XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"
)
LOADED = """
import sys
import django
django.setup()
from django.urls import get_resolver
get_resolver().url_patterns[0].url_patterns
late = ["jwt", "cryptography.x509", "rest_framework_simplejwt", "django.test", "unittest"]
# It imports urllib3, as the REST framework does too where `requests` is installed.
late += ["authservice.kernel.outbound.http_client"]
print([name for name in late if name in sys.modules])
"""
EXAMPLE_THUMBPRINT = "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"


@pytest.fixture(params=MAKE)
def alg(request):
    return request.param


@pytest.fixture
def keys(alg):
    return pair(alg)


def test_start_loads_nothing_that_only_tokens_tests_or_other_services_need():
    run = python("-c", LOADED, DJANGO_SETTINGS_MODULE="tests.settings")

    assert run.stdout.splitlines() == ["[]"]


def test_access_token_is_signed_with_the_active_key(api, configure, alg, keys):
    configure(SIGNING_KEYS=[entry(alg, keys[0])])

    token = api.sign_up()["access_token"]

    assert forging.header(token)["alg"] == alg
    assert api.get("me", token=token).status == 200


def test_published_key_verifies_an_access_token_with_pyjwt(api, configure, alg, keys):
    configure(SIGNING_KEYS=[entry(alg, keys[0])])
    token = api.sign_up()["access_token"]

    [published] = api.get(JWKS).body["keys"]
    if alg == "Ed25519":  # PyJWT knows the algorithm as EdDSA alone
        key = jwt.PyJWK({**published, "alg": "EdDSA"})
        key.algorithm_name = alg
    else:
        key = jwt.PyJWKSet.from_dict({"keys": [published]})[forging.header(token)["kid"]]
    claims = jwt.decode(token, key, [alg], audience="authservice", issuer="http://testserver")

    assert claims["typ"] == "access"


def test_published_key_has_only_public_members(api, configure, alg, keys):
    configure(SIGNING_KEYS=[entry(alg, keys[0])])

    (published,) = api.get(JWKS).body["keys"]

    members = {
        "EdDSA": {"crv", "x"},
        "Ed25519": {"crv", "x"},
        "ES256": {"crv", "x", "y"},
        "RS256": {"n", "e"},
    }
    assert set(published) == {"kty", "kid", "use", "alg"} | members[alg]
    assert (published["use"], published["alg"]) == ("sig", alg)


def test_next_key_is_published_but_does_not_sign(api, configure, alg, keys):
    configure(SIGNING_KEYS=[entry(alg, keys[0]), entry(alg, keys[1], "next")])
    active, following = (one["kid"] for one in api.get(JWKS).body["keys"])

    assert active != following
    assert forging.header(api.sign_up()["access_token"])["kid"] == active


def test_retired_key_still_verifies(api, configure, alg, keys):
    configure(SIGNING_KEYS=[entry(alg, keys[0]), entry(alg, keys[1], "next")])
    token = api.sign_up()["access_token"]

    configure(SIGNING_KEYS=[public_entry(alg, keys[0]), entry(alg, keys[1])])

    assert api.get("me", token=token).status == 200
    assert forging.header(api.log_in()["access_token"])["kid"] != forging.header(token)["kid"]


def test_removed_key_no_longer_verifies(api, configure, alg, keys):
    configure(SIGNING_KEYS=[entry(alg, keys[0])])
    token = api.sign_up()["access_token"]

    configure(SIGNING_KEYS=[entry(alg, keys[1])])

    assert api.get("me", token=token).error == REFUSED


def test_client_refreshes_after_the_change_from_the_derived_key(api, configure, alg, keys):
    """The access token counts as expired, so clients refresh, as for any expired token."""
    session = api.sign_up()

    configure(SIGNING_KEYS=[entry(alg, keys[0])])

    assert api.get("me", token=session["access_token"]).error == EXPIRED
    refreshed = api.post("refresh", refresh_token=session["refresh_token"]).data
    assert api.get("me", token=refreshed["access_token"]).status == 200
    assert forging.header(refreshed["access_token"])["alg"] == alg


def test_token_of_a_fallback_of_the_derived_key_counts_as_expired(api, configure, settings):
    token = api.sign_up()["access_token"]
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "a new secret key with more than fifty characters, all of them random"

    configure(SIGNING_KEYS=[entry("EdDSA", pair("EdDSA")[0])])

    assert api.get("me", token=token).error == EXPIRED


@pytest.mark.parametrize(
    "change",
    [
        {"body": {"iss": "https://other.example"}},
        {"body": {"aud": "other"}},
        {"body": {"ver": ...}},
        {"head": {"alg": "EdDSA"}},
        {"head": {"alg": "none"}},
        {"head": {"jwk": {}}},
    ],
    ids=str,
)
def test_changed_token_of_the_derived_key_is_invalid(api, configure, change):
    """Only tokens that were ours count as expired."""
    token = forging.changed(api.sign_up()["access_token"], **change)

    configure(SIGNING_KEYS=[entry("EdDSA", pair("EdDSA")[0])])

    assert api.get("me", token=token).error == REFUSED


def test_no_key_of_another_algorithm_verifies_under_the_kid_of_the_derived_key(
    api, configure, alg, keys
):
    token = api.sign_up()["access_token"]
    configure(SIGNING_KEYS=[entry(alg, keys[0])])
    secrets = (public_pem(keys[0].public_key()).encode(), b"", b"other")

    for secret in secrets:
        forged = forging.changed(token, signer=forging.hs256(secret))
        assert api.get("me", token=forged).error == REFUSED
    algorithm = jwt.get_algorithm_by_name("EdDSA" if alg == "Ed25519" else alg)
    own = forging.changed(
        token, head={"alg": alg}, signer=lambda message: algorithm.sign(message, keys[0])
    )
    assert api.get("me", token=own).error == REFUSED


@pytest.mark.parametrize("claimed", ["HS256", None])
def test_access_token_with_an_hmac_by_the_public_key_is_refused(api, configure, alg, keys, claimed):
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


def test_signing_key_of_one_algorithm_does_not_verify_for_another(api, configure):
    mixed = {name: make() for name, make in MAKE.items()}
    entries = [entry(name, key, "next") for name, key in mixed.items()]
    configure(SIGNING_KEYS=[{**entries[0], "state": "active"}, *entries[1:]])
    token = api.sign_up()["access_token"]
    kids = {one["alg"]: one["kid"] for one in api.get(JWKS).body["keys"]}

    for name in ("ES256", "RS256"):
        forged = forging.changed(token, head={"kid": kids[name], "alg": name})
        assert api.get("me", token=forged).error == REFUSED


def test_kid_is_the_thumbprint_of_rfc_7638(api, configure):
    numbers = rsa.RSAPublicNumbers(65537, int.from_bytes(forging.unb64(EXAMPLE_N), "big"))
    example = {"alg": "RS256", "public_key": public_pem(numbers.public_key()), "state": "retired"}
    configure(SIGNING_KEYS=[entry("EdDSA", MAKE["EdDSA"]()), example])

    assert api.get(JWKS).body["keys"][1]["kid"] == EXAMPLE_THUMBPRINT


def test_kid_of_an_okp_key_is_the_thumbprint_of_rfc_8037(api, configure):
    x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
    public = ed25519.Ed25519PublicKey.from_public_bytes(forging.unb64(x))
    example = {"alg": "EdDSA", "public_key": public_pem(public), "state": "retired"}
    configure(SIGNING_KEYS=[entry("ES256", MAKE["ES256"]()), example])

    published = api.get(JWKS).body["keys"][1]
    assert published["kid"] == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"


def test_kid_can_be_configured(api, configure, alg, keys):
    configure(SIGNING_KEYS=[{**entry(alg, keys[0]), "kid": "summer"}])

    assert forging.header(api.sign_up()["access_token"])["kid"] == "summer"


def test_published_key_has_no_private_member(api, configure, alg, keys):
    configure(SIGNING_KEYS=[entry(alg, keys[0])])

    assert not {"d", "p", "q", "dp", "dq", "qi", "k"} & set(api.get(JWKS).body["keys"][0])
