"""The Authorization header: read on protected routes, ignored on public ones, never a crash."""

import pytest

from tests.client import PASSWORD
from tests.contract.shapes import is_refusal
from tests.routes import protected, public

pytestmark = pytest.mark.django_db

NO_TOKEN = ("", " ", "Bearer", "Bearer ", "Bearer   ", "Basic YTpi", "Token abc", "abc", ",", "=")
NO_GOOD_TOKEN = (
    "Bearer a",
    "Bearer a,b",
    "Bearer a b",
    "Bearer .",
    "Bearer ..",
    "Bearer ...",
    "Bearer a.b.c",
    "Bearer a.b.c.d.e",
    "Bearer e30.e30.e30",
    "Bearer \xff\xfe",
    "Bearer \u00e4.\u00e4.\u00e4",
    "Bearer =",
    "Bearer null",
    "bearer undefined",
    "BEARER a",
    "Bearer " + "a" * 8193,
    "Bearer " + "a." * 50_000,
)
PROTECTED = protected()


@pytest.mark.parametrize("header", NO_TOKEN)
@pytest.mark.parametrize("route", PROTECTED, ids=str)
def test_without_a_bearer_token_a_caller_is_unauthorized(robust, route, header):
    answer = robust.request(route.method, route.path, headers={"Authorization": header})

    assert is_refusal(answer, 401, "UNAUTHORIZED")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("header", NO_GOOD_TOKEN, ids=lambda text: ascii(text[:20]))
@pytest.mark.parametrize("route", PROTECTED, ids=str)
def test_what_is_no_token_of_ours_is_invalid(robust, route, header):
    answer = robust.request(route.method, route.path, headers={"Authorization": header})

    assert is_refusal(answer, 401, "INVALID_TOKEN")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
@pytest.mark.parametrize("space", [" ", "  "])
def test_the_scheme_has_no_case_and_any_number_of_spaces(robust, scheme, space):
    token = robust.sign_up()["access_token"]

    answer = robust.get("me", headers={"Authorization": f"{scheme}{space}{token}"})

    assert answer.status == 200


@pytest.mark.parametrize("header", NO_TOKEN + NO_GOOD_TOKEN, ids=lambda text: ascii(text[:20]))
@pytest.mark.parametrize("route", public(), ids=str)
def test_a_public_route_ignores_the_header(robust, route, header):
    without = robust.request(route.method, route.path)
    answer = robust.request(route.method, route.path, headers={"Authorization": header})

    assert (answer.status, answer.response.content) == (without.status, without.response.content)


def test_a_genuine_token_in_the_query_is_not_looked_at(robust):
    token = robust.sign_up()["access_token"]

    assert robust.get(f"me?access_token={token}").error == (401, "UNAUTHORIZED")


def test_a_genuine_token_in_a_cookie_is_not_looked_at(robust):
    token = robust.sign_up()["access_token"]

    answer = robust.get("me", headers={"Cookie": f"access_token={token}"})

    assert answer.error == (401, "UNAUTHORIZED")


@pytest.mark.parametrize("header", ["Bearer nonsense", "Basic YTpi"])
def test_a_login_beside_a_broken_header_succeeds(robust, header):
    robust.sign_up()
    body = {"email": "ann@example.com", "password": PASSWORD}

    answer = robust.request("POST", "login", body, headers={"Authorization": header})

    assert answer.status == 200
