"""`GET /csrf-token` issues the pair of cookie and token."""

import re

import pytest

from tests.csrf.visitor import NAME, Visitor
from tests.support.client import Api

pytestmark = pytest.mark.django_db


def test_response_has_the_token_and_sets_it_as_a_cookie(api):
    answer = api.get("csrf-token")

    assert (answer.status, set(answer.body), set(answer.data)) == (200, {"data"}, {"csrf_token"})
    assert answer.response.cookies[NAME].value == answer.data["csrf_token"]


def test_cookie_can_be_read_by_scripts_of_its_host_only_for_an_hour(api):
    cookie = api.get("csrf-token").response.cookies[NAME]

    assert not cookie["httponly"]
    assert (cookie["samesite"], cookie["path"], cookie["domain"], cookie["max-age"]) == (
        "Lax",
        "/",
        "",
        3600,
    )


@pytest.mark.parametrize(
    ("url", "name"),
    [("http://api.example.com", NAME), ("https://api.example.com", f"__Host-{NAME}")],
)
def test_cookie_has_prefix_and_secure_flag_exactly_by_https(api, configure, url, name):
    configure(API_URL=url)

    (cookie,) = api.get("csrf-token").response.cookies.values()

    assert (cookie.key, bool(cookie["secure"])) == (name, name != NAME)


def test_planted_cookie_without_the_prefix_is_ignored_by_https(configure, visitor):
    configure(API_URL="https://api.example.com")

    assert visitor.post("login").error == (403, "INVALID_CSRF")


def test_response_sets_no_other_cookie(api):
    assert set(api.get("csrf-token").response.cookies) == {NAME}


def test_response_is_not_cached(api):
    assert api.get("csrf-token").headers["Cache-Control"] == "no-store, private"


def test_every_token_is_different(api):
    tokens = {api.get("csrf-token").data["csrf_token"] for _ in range(20)}

    assert len(tokens) == 20


def test_credentials_of_the_request_are_ignored(api):
    assert api.get("csrf-token", token="nonsense").status == 200


def test_request_costs_no_query(api, django_assert_num_queries):
    with django_assert_num_queries(0):
        api.get("csrf-token")


def test_host_can_set_names_samesite_and_ttl(configure):
    names = {"COOKIE_NAME": "forge", "HEADER_NAME": "X-Forge", "COOKIE_SAMESITE": "Strict"}
    configure(CSRF={**names, "TTL": 60})
    visitor = Visitor()

    token = visitor.fetch_token()

    cookie = visitor.client.cookies["forge"]
    assert (cookie["samesite"], cookie["max-age"]) == ("Strict", 60)
    assert visitor.post("login").error == (403, "INVALID_CSRF")
    assert visitor.post("login", X_Forge=token).error == (400, "VALIDATION_ERROR")


def test_route_allows_get_only(robust):
    assert robust.request("POST", "csrf-token").error == (405, "METHOD_NOT_ALLOWED")


def test_client_of_the_tests_sends_the_pair_by_itself():
    assert Api().sign_up()
    assert Api(paired=False).post("login").error == (403, "INVALID_CSRF")


def test_token_says_whether_the_browser_has_a_session(ann):
    def of_session():
        return bool(re.match(r"[^:]*\.[^:]", ann.fetch_token()))

    assert of_session()
    del ann.client.cookies["authservice_access"]  # as the browser does once it has expired
    assert of_session()
    ann.plant("authservice_refresh", "x")
    assert not of_session()
    assert re.fullmatch(r"[0-9a-f]+\.:.+", ann.token)


def test_bearer_token_is_no_session_of_the_browser(api, with_cookies):
    token = api.sign_up()["access_token"]

    issued = api.get("csrf-token", token=token).data["csrf_token"]

    assert re.fullmatch(r"[0-9a-f]+\.:.+", issued)
