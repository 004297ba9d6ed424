"""The claims of an access token about its user, its session and itself."""

import re
import time

import pytest

from authservice.core.models import Session
from tests.support import forging
from tests.support.people import the_user

pytestmark = pytest.mark.django_db

CLAIMS = {"iss", "aud", "sub", "jti", "iat", "exp", "typ", "ver", "sid", "amr", "acr", "auth_time"}


@pytest.fixture
def token(api):
    return api.sign_up()["access_token"]


def test_claims_are_exactly_these(token):
    assert set(forging.claims(token)) == CLAIMS


def test_header_of_an_access_token_is_exactly_this(token):
    head = forging.header(token)

    assert set(head) == {"alg", "kid", "typ"}
    assert (head["alg"], head["typ"]) == ("HS256", "at+jwt")


def test_claim_sub_is_the_user_and_sid_the_session(token):
    claims = forging.claims(token)

    assert (claims["sub"], claims["sid"]) == (str(the_user().pk), str(Session.objects.get().pk))


def test_claims_typ_iss_and_aud_are_those_of_the_service(token):
    claims = forging.claims(token)

    assert (claims["typ"], claims["iss"], claims["aud"]) == (
        "access",
        "http://testserver",
        "authservice",
    )


def test_access_token_expires_after_fifteen_minutes(token):
    claims = forging.claims(token)

    assert claims["exp"] - claims["iat"] == 900


def test_claims_amr_and_auth_time_are_method_and_time_of_the_login(api, clock):
    claims = forging.claims(api.sign_up()["access_token"])

    assert (claims["amr"], claims["auth_time"]) == (["pwd"], int(time.time()))


def test_claim_auth_time_is_kept_by_a_refresh(api, clock):
    tokens = api.sign_up()
    clock.forward(hours=1)
    later = api.post("refresh", refresh_token=tokens["refresh_token"]).data

    before, after = (forging.claims(one["access_token"])["auth_time"] for one in (tokens, later))
    assert before == after


def test_claim_ver_is_the_token_version(token):
    assert forging.claims(token)["ver"] == 0


def test_claim_jti_differs_for_each_token(api, token):
    other = api.log_in()["access_token"]

    first, second = (forging.claims(one)["jti"] for one in (token, other))
    assert first != second
    assert re.fullmatch(r"[0-9a-f]{32}", first)


def test_claims_contain_no_address(token):
    assert "ann" not in str(forging.claims(token))


@pytest.mark.parametrize(("key", "claim"), [("ISSUER", "iss"), ("AUDIENCE", "aud")])
def test_claims_iss_and_aud_are_settings(api, configure, key, claim):
    configure(**{key: "https://elsewhere.example"})
    token = api.sign_up()["access_token"]

    assert forging.claims(token)[claim] == "https://elsewhere.example"
    assert api.get("me", token=token).status == 200


@pytest.mark.parametrize("key", ["ISSUER", "AUDIENCE"])
def test_access_token_from_before_a_change_of_issuer_or_audience_is_refused(
    api, configure, token, key
):
    configure(**{key: "https://elsewhere.example"})

    assert api.get("me", token=token).error == (401, "INVALID_TOKEN")
