"""Every manipulated access token is refused in the envelope."""

import string

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from authservice.core.tokens.signing import ring
from tests.contract.shapes import is_refusal
from tests.support import forging
from tests.support.client import Api

pytestmark = pytest.mark.django_db

CHECKED = settings(
    deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
ALPHABET = string.ascii_letters + string.digits + "-_"
WORDS = st.text(max_size=40)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=4,
)
ALGORITHMS = ["none", "None", "NONE", "nOnE", "", "HS384", "HS512", "RS256", "ES256", "EdDSA", None]
KIDS = [
    "../../../../dev/null",
    "/dev/null",
    "' OR 1=1 --",
    "'; DROP TABLE authservice_core_session; --",
    "$(id)",
    "\x00",
    "http://evil.example/jwks.json",
    "a" * 5000,
    7,
    None,
    [],
    {},
]


@pytest.fixture
def token(api, configure):
    configure(THROTTLE={"ENABLED": False})
    return api.sign_up()["access_token"]


def refused(token):
    answer = Api(raising=False).get("me", token=token)
    return is_refusal(answer, 401, "INVALID_TOKEN") and answer.headers["WWW-Authenticate"]


def test_access_token_with_a_flipped_bit_is_refused(api, token):
    @given(st.integers(0, len(token) - 1), st.integers(0, 6))
    @CHECKED
    def flip(place, bit):
        changed = chr(ord(token[place]) ^ 1 << bit)
        flipped = token[:place] + changed + token[place + 1 :]
        # A blank at the end of a header is not part of its value.
        assume(flipped.strip() == flipped and "\n" not in flipped and "\r" not in flipped)
        assert refused(flipped)

    flip()
    assert api.get("me", token=token).status == 200


def test_access_token_of_mixed_parts_is_refused(api, token):
    other = api.sign_up("ben@example.com")["access_token"]
    parts, others = token.split("."), other.split(".")

    @given(st.lists(st.sampled_from([*parts, *others, ""]), min_size=1, max_size=6))
    @CHECKED
    def shuffle(chosen):
        assume(chosen not in (parts, others) and any(chosen))
        # Both tokens have the same header.
        assume(chosen[1:] not in (parts[1:], others[1:]) or len(chosen) != 3 or not chosen[0])
        assert refused(".".join(chosen))

    shuffle()


def test_random_text_as_access_token_is_refused(token):
    @given(st.text(ALPHABET + "=.", min_size=1, max_size=400))
    @CHECKED
    def attempt(text):
        assert refused(text)

    attempt()


@pytest.mark.parametrize("alg", ALGORITHMS)
@pytest.mark.parametrize(
    "signer", [lambda _: b"", forging.hs256(b""), forging.hs512(b"")], ids=["none", "hs", "hs512"]
)
def test_access_token_with_another_algorithm_is_refused(token, alg, signer):
    assert refused(forging.changed(token, head={"alg": alg}, signer=signer))


@pytest.mark.parametrize("kid", KIDS, ids=repr)
@pytest.mark.parametrize(
    "signer", [forging.hs256(b""), forging.hs256(b"\x00"), None], ids=["empty", "nul", "ours"]
)
def test_access_token_with_another_kid_is_refused(token, kid, signer):
    assert refused(forging.changed(token, head={"kid": kid}, signer=signer))


@pytest.mark.parametrize(
    "head",
    [
        {"jku": "https://evil.example/jwks.json"},
        {"x5u": "https://evil.example/x"},
        {"x5c": ["MIIB"]},
        {"jwk": {"kty": "oct", "k": forging.b64(b"evil")}},
        {"crit": ["exp"]},
        {"crit": ["b64"], "b64": False},
        {"b64": False},
        {"zip": "DEF"},
        {"cty": "JWT"},
    ],
    ids=repr,
)
def test_access_token_with_its_own_key_is_refused(token, head):
    assert refused(forging.changed(token, head=head, signer=forging.hs256(b"evil")))
    assert refused(forging.changed(token, head=head))


def test_access_token_with_valid_signature_and_invalid_claim_is_refused(token):
    names = st.sampled_from(sorted(forging.claims(token)))

    @given(names, JSON)
    @CHECKED
    def replace(name, value):
        assume(name not in ("jti", "iat", "auth_time", "amr", "acr"))
        assume(value != forging.claims(token)[name])
        # A later `exp` is valid, and one of the past has its own error code.
        assume(name != "exp" or not isinstance(value, int | float) or isinstance(value, bool))
        assert refused(forging.changed(token, body={name: value}))

    replace()


def test_access_token_with_duplicate_claim_is_refused(token):
    body = forging.unb64(token.split(".")[1])
    twice = body[:-1] + b',"sub":"0"}'

    assert refused(forging.compact(forging.header(token), twice, forging.ours()))


def test_forging_helper_can_make_a_valid_token(token):
    assert ring().active.alg == "HS256"
    assert Api().get("me", token=forging.changed(token)).status == 200
