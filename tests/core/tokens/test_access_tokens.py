"""An access token is accepted only exactly as it was issued, whatever it claims (RFC 8725)."""

import time

import pytest

from authservice.core.tokens.signing import ring
from tests.support import forging

pytestmark = pytest.mark.django_db

REFUSED = (401, "INVALID_TOKEN")
REQUIRED = ("iss", "aud", "sub", "jti", "iat", "exp", "typ", "ver", "sid")
OTHER_KEY = b"k" * 32


@pytest.fixture
def token(api):
    return api.sign_up()["access_token"]


def me(api, token):
    return api.get("me", token=token)


def test_access_token_signed_by_the_test_helper_is_accepted(api, token):
    assert me(api, forging.changed(token)).status == 200


@pytest.mark.parametrize("alg", ["none", "None", "NONE", "nOnE", ""])
def test_access_token_without_an_algorithm_is_refused(api, token, alg):
    forged = forging.changed(token, head={"alg": alg}, signer=lambda _: b"")

    assert me(api, forged).error == REFUSED
    assert me(api, forged.rstrip(".")).error == REFUSED


def test_access_token_without_its_signature_is_refused(api, token):
    assert me(api, token.rpartition(".")[0] + ".").error == REFUSED


@pytest.mark.parametrize("alg", ["none", "HS512", "RS256", "EdDSA", "hs256", None, ["HS256"], 1])
def test_access_token_with_another_algorithm_than_its_key_is_refused(api, token, alg):
    assert me(api, forging.changed(token, head={"alg": alg})).error == REFUSED


def test_access_token_with_a_stronger_algorithm_and_the_same_key_is_refused(api, token):
    signer = forging.hs512(ring().active.signing)

    assert me(api, forging.changed(token, head={"alg": "HS512"}, signer=signer)).error == REFUSED


@pytest.mark.parametrize("key", [OTHER_KEY, b"", b"secret", b"authservice"])
def test_access_token_signed_with_another_key_is_refused(api, token, key):
    assert me(api, forging.changed(token, signer=forging.hs256(key))).error == REFUSED


def test_access_token_signed_with_the_secret_key_itself_is_refused(api, token, settings):
    signer = forging.hs256(settings.SECRET_KEY.encode())

    assert me(api, forging.changed(token, signer=signer)).error == REFUSED


@pytest.mark.parametrize(
    "kid",
    [
        "other",
        "",
        "../../../../dev/null",
        "/dev/null",
        "x' UNION SELECT 'key' --",
        "'; DROP TABLE authservice_core_session; --",
        "| id",
        "\x00",
        None,
        0,
        [],
        {},
        ...,
    ],
    ids=repr,
)
def test_access_token_with_an_unknown_kid_is_refused(api, token, kid):
    forged = forging.changed(token, head={"kid": kid}, signer=forging.hs256(b""))

    assert me(api, forged).error == REFUSED


@pytest.mark.parametrize(
    "more",
    [
        {"jwk": {"kty": "oct", "k": forging.b64(OTHER_KEY)}},
        {"jku": "https://evil.example/jwks.json"},
        {"x5u": "https://evil.example/cert.pem"},
        {"x5c": ["AAAA"]},
        {"x5t": "AAAA"},
        {"crit": ["exp"]},
        {"crit": ["b64"], "b64": False},
        {"b64": True},
        {"cty": "JWT"},
        {"zip": "DEF"},
        {"enc": "A256GCM"},
    ],
    ids=lambda more: next(iter(more)),
)
def test_access_token_with_another_header_parameter_is_refused_though_signed(api, token, more):
    assert me(api, forging.changed(token, head=more)).error == REFUSED


@pytest.mark.parametrize("typ", ["JWT", "jwt", "AT+JWT", "application/at+jwt", "", None, 1, ...])
def test_access_token_with_another_typ_in_the_header_is_refused_though_signed(api, token, typ):
    assert me(api, forging.changed(token, head={"typ": typ})).error == REFUSED


@pytest.mark.parametrize("typ", ["refresh", "2fa", "ACCESS", "", None, 1])
def test_access_token_with_another_typ_claim_is_refused_though_signed(api, token, typ):
    assert me(api, forging.changed(token, body={"typ": typ})).error == REFUSED


@pytest.mark.parametrize(
    "change",
    [
        {"iss": "http://evil.example"},
        {"iss": "http://testserver/"},
        {"iss": ["http://testserver"]},
        {"iss": ""},
        {"aud": "other"},
        {"aud": "AUTHSERVICE"},
        {"aud": ["authservice"]},
        {"aud": ["authservice", "other"]},
        {"aud": ""},
        {"sub": "0"},
        {"sub": ""},
        {"sub": 1},
        {"sub": True},
        {"sid": "nonsense"},
        {"sid": ""},
        {"sid": 1},
        {"sid": "00000000-0000-7000-8000-000000000000"},
        {"ver": 1},
        {"ver": -1},
        {"ver": "0"},
        {"ver": False},
        {"ver": 0.0},
        {"jti": 1},
        {"exp": "9999999999"},
        {"exp": True},
        {"exp": 9e99},
        {"iat": "now"},
    ],
    ids=repr,
)
def test_access_token_with_an_altered_claim_is_refused_though_signed(api, token, change):
    assert me(api, forging.changed(token, body=change)).error == REFUSED


@pytest.mark.parametrize("claim", REQUIRED)
@pytest.mark.parametrize("value", [..., None], ids=["missing", "null"])
def test_access_token_without_a_required_claim_is_refused_though_signed(api, token, claim, value):
    assert me(api, forging.changed(token, body={claim: value})).error == REFUSED


def test_access_token_with_the_session_of_another_user_is_refused_though_signed(api, token):
    other = forging.claims(api.sign_up("ben@example.com")["access_token"])

    assert me(api, forging.changed(token, body={"sid": other["sid"]})).error == REFUSED


@pytest.mark.parametrize("seconds", [0, 1, 60])
def test_access_token_expired_has_its_own_error_code(api, clock, token, seconds):
    forged = forging.changed(token, body={"exp": int(time.time()) - seconds})

    assert me(api, forged).error == (401, "TOKEN_EXPIRED")


def test_access_token_forged_and_expired_is_invalid(api, token):
    forged = forging.changed(token, body={"exp": 1}, signer=forging.hs256(OTHER_KEY))

    assert me(api, forged).error == REFUSED


def test_access_token_issued_one_second_in_the_future_is_accepted(api, clock, token):
    assert me(api, forging.changed(token, body={"iat": int(time.time()) + 1})).status == 200


@pytest.mark.parametrize("number", [0, 1, 2], ids=["header", "claims", "signature"])
def test_access_token_with_any_changed_octet_is_refused(api, token, configure, number):
    configure(THROTTLE={"ENABLED": False})
    parts = token.split(".")
    raw = forging.unb64(parts[number])
    errors = set()
    for n in range(len(raw)):
        forged = raw[:n] + bytes([raw[n] ^ 1]) + raw[n + 1 :]
        errors.add(
            me(api, ".".join([*parts[:number], forging.b64(forged), *parts[number + 1 :]])).error
        )

    assert errors == {REFUSED}


@pytest.mark.parametrize(
    "vary",
    [
        lambda token: token + "=",
        lambda token: token + ".",
        lambda token: "." + token,
        lambda token: token + ".x",
        lambda token: token.replace(".", "..", 1),
        lambda token: token[:-1] + chr(ord(token[-1]) + 1),
        lambda token: token[:9] + "=" + token[9:],
        lambda token: token + "\u00e9",
    ],
)
def test_access_token_in_another_encoding_is_refused(api, token, vary):
    assert me(api, vary(token)).error == REFUSED


@pytest.mark.parametrize(
    "part",
    [b"[]", b"null", b"7", b"{", b"\xff", b"{}", b'"x"', b"[" * 2000],
    ids=lambda part: ascii(part[:8]),
)
@pytest.mark.parametrize("where", ["head", "body"])
def test_access_token_with_a_part_that_is_no_object_is_refused_though_signed(
    api, token, part, where
):
    parts = {"head": forging.header(token), "body": forging.claims(token), where: part}

    assert me(api, forging.compact(parts["head"], parts["body"], forging.ours())).error == REFUSED


def test_access_token_oversized_is_refused_though_signed(api, token):
    assert me(api, forging.changed(token, body={"x": "x" * 8192})).error == REFUSED
