"""Tokens of every kind from generated text: only issued ones are read, in one spelling."""

import contextlib
import json
import logging
from uuid import UUID

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from authservice.core.credentials import one_time
from authservice.core.errors import InvalidLink
from authservice.core.tokens import signing
from authservice.core.tokens.signing import ring
from authservice.csrf import guard as csrf
from authservice.kernel import errors, secret
from authservice.kernel.client import DeviceToken
from authservice.kernel.secret import Secret
from tests.fuzz.generated import DEEP, JSON, TEXTS, bounded, tried
from tests.support import forging

URL_SAFE = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
SEGMENTS = (
    (JSON | DEEP).map(lambda value: forging.b64(json.dumps(value).encode()))
    | st.binary(max_size=60).map(forging.b64)
    | st.text(URL_SAFE + "=+/ .", max_size=60)
    | st.sampled_from(["[", '{"typ":']).map(lambda opening: forging.b64(opening.encode() * 1000))
    | TEXTS
)
# Servers decode headers and cookies as latin-1, so that they have no surrogates.
HEADERS = st.binary(max_size=90).map(lambda raw: raw.decode("latin-1"))
COMPACT = st.lists(SEGMENTS, max_size=5).map(".".join)
SESSION, SEED = UUID(int=7), "00" * 32
CLAIMS = {
    "iss": "http://testserver",
    "aud": "authservice",
    "sub": "1",
    "jti": "0" * 32,
    "typ": "access",
    "sid": str(SESSION),
    "iat": 1,
    "exp": 2**33,
    "ver": 0,
}
# What turns an issued token into another text: the place, and the text that replaces it.
EDITS = st.tuples(
    st.integers(0, 600), st.integers(0, 2), st.text(URL_SAFE + "=.:+/ \n", max_size=2)
)


def edited(token, edit):
    place, removed, added = edit
    place %= len(token) + 1
    return token[:place] + added + token[place + removed :]


@pytest.fixture
def issued():
    return ring().encode(
        {name: value for name, value in CLAIMS.items() if name not in ("iss", "aud")}
    )


@given(text=COMPACT)
@tried(150)
def test_text_that_was_not_issued_is_no_access_token(text):
    with bounded(), pytest.raises((errors.InvalidToken, errors.TokenExpired)):
        signing.read_access_token(Secret(text))
    signing.is_ours(Secret(text))


@given(edit=EDITS)
@tried(150)
def test_edited_access_token_is_refused(issued, edit):
    text = edited(issued, edit)
    assume(text != issued)

    with pytest.raises(errors.InvalidToken):
        signing.read_access_token(Secret(text))


@given(claims=st.dictionaries(st.sampled_from(sorted(CLAIMS)), JSON | DEEP, max_size=3))
@tried(150)
def test_signed_claims_are_read_as_their_types_or_refused(issued, claims):
    token = forging.changed(issued, body=claims)

    try:
        read = signing.read_access_token(Secret(token))
    except (errors.InvalidToken, errors.TokenExpired):
        return
    assert {name: type(read[name]) for name in CLAIMS} == {
        name: type(value) for name, value in CLAIMS.items()
    }
    assert (read["iss"], read["aud"], read["typ"]) == (ring().issuer, ring().audience, "access")


@given(head=JSON | DEEP | st.fixed_dictionaries({"alg": JSON, "kid": JSON, "typ": JSON | DEEP}))
@example(head=b"[" * 5000)
@example(head={"kid": []})
@tried(100)
def test_signed_token_with_another_header_is_refused(head):
    token = Secret(forging.compact(head, CLAIMS, forging.ours()))

    signing.is_ours(token)
    with bounded(), pytest.raises(errors.InvalidToken):
        signing.read_access_token(token)


@given(text=TEXTS | st.binary(max_size=80).map(secret.b64) | st.text(URL_SAFE + "=", max_size=90))
@tried(150)
def test_text_that_is_read_as_a_refresh_token_is_its_only_spelling_and_not_genuine(text):
    try:
        parsed = signing.parse_refresh_token(Secret(text))
    except secret.Unreadable:
        return
    raw = secret.unb64(text)
    assert (raw[1:17], raw[21:]) == (parsed.session_id.bytes, parsed.mac)
    assert not parsed.genuine(SEED)


@given(counter=st.integers(0, 2**32 - 1), edit=EDITS)
@tried(150)
def test_edited_refresh_token_is_refused(counter, edit):
    token = signing.derive_refresh_token(SESSION, counter, SEED).reveal()
    known = signing.parse_refresh_token(Secret(token))
    assert (known.session_id, known.counter, known.genuine(SEED)) == (SESSION, counter, True)
    text = edited(token, edit)
    assume(text != token)

    with contextlib.suppress(secret.Unreadable):
        assert not signing.parse_refresh_token(Secret(text)).genuine(SEED)


@given(text=HEADERS, edit=EDITS)
@tried(100)
def test_edited_signed_and_sealed_values_are_refused(text, edit):
    device = DeviceToken.issue(SESSION, version=1, user="1").reveal()
    form, sealed = csrf.issue(SESSION), secret.seal("test", "text")
    for one in (device, form, sealed):
        changed = edited(one, edit)
        assume(changed != one)
        assert DeviceToken.read(Secret(changed)) is None
        assert csrf.fault_of(changed)
        with pytest.raises(secret.Unreadable):
            secret.unseal("test", changed)
    with bounded():
        assert DeviceToken.read(Secret(text)) is None
        assert csrf.fault_of(text)


@pytest.mark.django_db
@given(text=TEXTS, purpose=st.sampled_from([one_time.RESET, one_time.SECURE]))
@tried(30)
def test_text_that_was_not_issued_is_no_one_time_token(text, purpose):
    # Fields of the API refuse texts that UTF-8 cannot encode.
    assume(text.isprintable())

    for find in (one_time.find_link, one_time.find_open):
        with pytest.raises(InvalidLink):
            find(purpose, Secret(text))


@given(text=COMPACT)
@tried(50)
def test_reading_tokens_logs_nothing(caplog, text):
    caplog.clear()
    with caplog.at_level(logging.DEBUG):
        signing.is_ours(Secret(text))
        with pytest.raises((errors.InvalidToken, errors.TokenExpired)):
            signing.read_access_token(Secret(text))

    assert caplog.records == []
