"""What an access token says of its user, its sign-in and itself."""

import re
import time

import pytest

from authservice.core.models import Session
from tests import forging
from tests.people import the_user

pytestmark = pytest.mark.django_db

CLAIMS = {"iss", "aud", "sub", "jti", "iat", "exp", "typ", "ver", "sid", "amr", "auth_time"}


@pytest.fixture
def token(api):
    return api.sign_up()["access_token"]


def test_they_are_exactly_these(token):
    assert set(forging.claims(token)) == CLAIMS


def test_the_header_is_exactly_this(token):
    head = forging.header(token)

    assert set(head) == {"alg", "kid", "typ"}
    assert (head["alg"], head["typ"]) == ("HS256", "at+jwt")


def test_sub_is_the_user_and_sid_the_sign_in(token):
    said = forging.claims(token)

    assert (said["sub"], said["sid"]) == (str(the_user().pk), str(Session.objects.get().pk))


def test_typ_iss_and_aud_are_ours(token):
    said = forging.claims(token)

    assert (said["typ"], said["iss"], said["aud"]) == (
        "access",
        "http://testserver",
        "authservice",
    )


def test_it_lives_for_fifteen_minutes(token):
    said = forging.claims(token)

    assert said["exp"] - said["iat"] == 900


def test_amr_and_auth_time_tell_how_and_when(api, clock):
    said = forging.claims(api.sign_up()["access_token"])

    assert (said["amr"], said["auth_time"]) == (["pwd"], int(time.time()))


def test_auth_time_survives_a_refresh(api, clock):
    tokens = api.sign_up()
    clock.forward(hours=1)
    later = api.post("refresh", refresh_token=tokens["refresh_token"]).data

    before, after = (forging.claims(one["access_token"])["auth_time"] for one in (tokens, later))
    assert before == after


def test_ver_is_the_token_version(token):
    assert forging.claims(token)["ver"] == 0


def test_every_token_has_a_jti_of_its_own(api, token):
    other = api.log_in()["access_token"]

    first, second = (forging.claims(one)["jti"] for one in (token, other))
    assert first != second
    assert re.fullmatch(r"[0-9a-f]{32}", first)


def test_it_holds_no_secret_and_no_address(token):
    assert "ann" not in str(forging.claims(token))


@pytest.mark.parametrize(("key", "claim"), [("ISSUER", "iss"), ("AUDIENCE", "aud")])
def test_issuer_and_audience_are_settings(api, configure, key, claim):
    configure(**{key: "https://elsewhere.example"})
    token = api.sign_up()["access_token"]

    assert forging.claims(token)[claim] == "https://elsewhere.example"
    assert api.get("me", token=token).status == 200


@pytest.mark.parametrize("key", ["ISSUER", "AUDIENCE"])
def test_a_token_from_before_such_a_change_is_refused(api, configure, token, key):
    configure(**{key: "https://elsewhere.example"})

    assert api.get("me", token=token).error == (401, "INVALID_TOKEN")
