"""`GET /csrf-token`: the pair."""

import pytest

from tests.client import Api
from tests.csrf.visitor import NAME, Visitor

pytestmark = pytest.mark.django_db


def test_it_answers_with_the_token_and_sets_it_as_a_cookie(api):
    answer = api.get("csrf-token")

    assert (answer.status, set(answer.body), set(answer.data)) == (200, {"data"}, {"csrf_token"})
    assert answer.response.cookies[NAME].value == answer.data["csrf_token"]


def test_the_cookie_can_be_read_by_scripts_of_this_host_alone_for_an_hour(api):
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
def test_prefix_and_secure_are_there_exactly_by_https(api, configure, url, name):
    configure(API_URL=url)

    (cookie,) = api.get("csrf-token").response.cookies.values()

    assert (cookie.key, bool(cookie["secure"])) == (name, name != NAME)


def test_by_https_a_planted_cookie_of_the_plain_name_is_not_looked_at(configure, visitor):
    configure(API_URL="https://api.example.com")

    assert visitor.post("login").error == (403, "INVALID_CSRF")


def test_it_sets_no_other_cookie(api):
    assert set(api.get("csrf-token").response.cookies) == {NAME}


def test_it_is_kept_by_no_cache(api):
    assert api.get("csrf-token").headers["Cache-Control"] == "no-store"


def test_each_token_is_another(api):
    tokens = {api.get("csrf-token").data["csrf_token"] for _ in range(20)}

    assert len(tokens) == 20


def test_it_looks_at_no_credentials(api):
    assert api.get("csrf-token", token="nonsense").status == 200


def test_it_asks_the_database_for_nothing(api, django_assert_num_queries):
    with django_assert_num_queries(0):
        api.get("csrf-token")


def test_names_samesite_and_life_are_the_hosts(configure):
    names = {"COOKIE_NAME": "forge", "HEADER_NAME": "X-Forge", "COOKIE_SAMESITE": "Strict"}
    configure(CSRF={**names, "TTL": 60})
    visitor = Visitor()

    token = visitor.fetch_token()

    cookie = visitor.client.cookies["forge"]
    assert (cookie["samesite"], cookie["max-age"]) == ("Strict", 60)
    assert visitor.post("login").error == (403, "INVALID_CSRF")
    assert visitor.post("login", X_Forge=token).error == (400, "VALIDATION_ERROR")


def test_it_can_only_be_got(robust):
    assert robust.request("POST", "csrf-token").error == (405, "METHOD_NOT_ALLOWED")


def test_a_client_of_the_tests_sends_the_pair_by_itself():
    assert Api().sign_up()
    assert Api(paired=False).post("login").error == (403, "INVALID_CSRF")
