"""What providers answer, generated: a login is refused with a documented error, or has a profile
that can be stored. Nothing of an answer is logged."""

import logging

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from hypothesis import example, given
from hypothesis import strategies as st

from authservice.core.users import identifiers
from authservice.kernel.secret import Secret
from authservice.oauth import errors, openid
from authservice.oauth.flow import translated
from authservice.oauth.profiles import cleaned, new_user
from authservice.oauth.provider import ProviderError
from tests.fuzz.generated import DEEP, JSON, NUMBERS, TEXTS, bounded, tried
from tests.oauth.providers.conftest import NONCE, new_flow
from tests.oauth.providers.standin import CLIENT_ID, KEY, KID, jwk_of
from tests.support import forging

MARK = "not-for-any-log"
LIKELY = st.sampled_from([f"{MARK}@example.com", MARK, "1", "1700000000", "true", True, None, []])
VALUES = LIKELY | NUMBERS | DEEP | JSON
REFUSALS = (errors.ProviderRefused, errors.TokenExchangeRefused, errors.UserInfoUnavailable)
NAMES = ("apple", "discord", "facebook", "github", "gitlab", "google", "linkedin", "microsoft")


def members(*names):
    """Mostly one wrong member, which nothing else hides."""
    name = st.sampled_from(names)
    one = st.builds(lambda name, value: {name: value}, name, VALUES)
    return one | one | st.dictionaries(name, VALUES, max_size=4)


TOKENS = members("access_token", "token_type", "refresh_token", "id_token", "expires_in", "error")
CLAIMS = members(*("iss", "sub", "aud", "azp", "exp", "iat", "nbf", "nonce", "at_hash", "tid"))
PROFILE = members(
    *("sub", "id", "email", "mail", "email_verified", "verified", "name", "given_name", "picture"),
    *("login", "avatar", "avatar_url", "displayName", "global_name", "xms_edov", "username"),
)
KEYS = members("kty", "n", "e", "kid", "use", "alg", "d", "x5c", "oth", "key_ops", "crv", "x", "y")
HEADERS = members("alg", "kid", "typ", "crit", "b64", "jwk", "jku", "zip")


def complete(provider, standin):
    """The profile of a whole login at the stand-in, as it would be stored; None if refused."""
    flow = new_flow(provider.name)
    callback = standin.approve(provider.authorization_url(flow))
    try:
        with bounded(), translated(provider):
            result = provider.complete({**callback, "user": "{}"}, flow)
        profile = cleaned(result.profile, provider.name)
    except REFUSALS:
        return None
    assert profile.subject.isprintable()
    assert not profile.email or identifiers.email_key(profile.email)
    new_user(profile)
    return profile


@pytest.fixture
def refusing(caplog):
    """Afterwards, no log line has the mark."""
    with caplog.at_level(logging.DEBUG, "authservice"):
        yield
    assert MARK not in caplog.text


@pytest.mark.parametrize("name", NAMES)
@given(answer=PROFILE | VALUES, claims=CLAIMS | PROFILE)
@tried(12)
def test_any_profile_is_refused_or_can_be_stored(named, standin, refusing, name, answer, claims):
    standin.answers["/user"] = answer
    standin.claims = claims

    complete(named(name), standin)


@given(answer=TOKENS | VALUES, status=st.sampled_from([200, 200, 400, 500]))
@tried(40)
def test_any_answer_of_the_token_endpoint_is_refused(named, standin, refusing, answer, status):
    standin.answers["/user"] = {"id": "7"}
    standin.answers["/token"] = (status, answer)

    assert complete(named("google"), standin) is None


@given(claims=CLAIMS, head=st.just({}) | HEADERS)
@example(claims={"iat": "1700000000"}, head={})
@example(claims={"iat": -(10**400)}, head={})
@tried(60)
def test_any_signed_id_token_is_refused_or_has_the_required_claims(
    openid_provider, standin, refusing, claims, head
):
    token = standin.id_token(nonce=NONCE.reveal())
    forged = forging.changed(token, body=claims, head=head, signer=_signed)
    try:
        with bounded(), translated(openid_provider):
            profile = openid_provider.verify_id_token(Secret(forged), NONCE, (CLIENT_ID,))
    except REFUSALS:
        return
    read = forging.claims(forged)
    assert (read["iss"], read["nonce"]) == (standin.url, NONCE.reveal())
    assert CLIENT_ID in read["aud"]
    assert profile.subject == str(read["sub"])


def _signed(message):
    return KEY.sign(message, padding.PKCS1v15(), hashes.SHA256())


@given(key=KEYS, more=st.lists(VALUES, max_size=2), kid=st.sampled_from([KID, None]))
@tried(100)
def test_any_key_set_has_the_key_of_a_token_or_none(key, more, kid):
    right = jwk_of(KEY, kid=KID, alg="RS256")
    header = {"alg": "RS256", **({"kid": kid} if kid else {})}
    with bounded():
        for document in ({"keys": [{**right, **key}, *more]}, {"keys": more}, more, key):
            openid.is_key_set(document)
            found = openid.find_key(document, header)
            assert found is None or found.key.key_size >= 2048


@given(token=TEXTS | st.lists(TEXTS, min_size=3, max_size=3).map(".".join))
@tried(60)
def test_text_that_was_not_issued_is_no_id_token(openid_provider, token):
    # Fields of the API refuse control characters and surrogates.
    token = token.encode("utf-8", "replace").decode()
    with bounded(), pytest.raises(ProviderError):
        openid_provider.verify_id_token(Secret(token), NONCE, (CLIENT_ID,))
