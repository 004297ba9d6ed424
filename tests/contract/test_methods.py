"""Methods and unknown paths: every response below the mount uses the envelope."""

import pytest

from tests.contract.shapes import is_refusal
from tests.support.routes import paths

pytestmark = pytest.mark.django_db

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "FOO", "get", "")
PATHS = paths()
UNKNOWN = (
    "",
    "unknown",
    "login/",
    "signup/",
    "me/",
    "refresh/",
    "logout/",
    ".well-known/jwks.json/",
    "LOGIN",
    "login/x",
    "login//",
    "//login",
    "%00",
    "%ff%fe",
    "%0a",
    "../auth/login",
    "a" * 4000,
)
QUERIES = (
    "email=%00&token=%00&limit=%00",
    "email=%ff%fe&token=%ff",
    "email=%ED%A0%80&token=%ED%A0%80",
    "email[]=a&token[a]=b&&&=&;",
    "email=a&email=b&token=a&token=b",
    "token=" + "a" * 5000,
    "limit=-1&offset=x&sort_field=%27",
    "%",
)


def allowed(path):
    known = PATHS[path] | {"OPTIONS"} | ({"HEAD"} if "GET" in PATHS[path] else set())
    return ", ".join(sorted(known))


@pytest.mark.parametrize("path", PATHS)
def test_other_method_is_405_with_the_allowed_methods(robust, path):
    others = [method for method in METHODS if method.upper() not in allowed(path).split(", ")]
    answers = {method: robust.request(method, path) for method in others}

    assert len(others) >= 6
    for method, answer in answers.items():
        assert (answer.status, answer.headers["Allow"]) == (405, allowed(path)), method
        assert method == "HEAD" or is_refusal(answer, 405, "METHOD_NOT_ALLOWED"), method


@pytest.mark.parametrize("path", PATHS)
def test_other_method_is_405_before_the_token_is_read(robust, path):
    assert robust.request("FOO", path, token="nonsense").status == 405


@pytest.mark.parametrize("path", PATHS)
def test_options_lists_methods_without_authentication(robust, path):
    answer = robust.request("OPTIONS", path)

    assert (answer.status, answer.body) == (200, {"data": None})
    assert answer.headers["Allow"] == allowed(path)


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "FOO"])
@pytest.mark.parametrize("path", UNKNOWN)
def test_unknown_path_is_not_found_for_any_method(robust, path, method):
    assert is_refusal(robust.request(method, path), 404, "NOT_FOUND")


@pytest.mark.parametrize("append", [True, False])
def test_trailing_slash_is_not_found_with_any_append_slash(robust, settings, append):
    settings.APPEND_SLASH = append

    assert is_refusal(robust.post("login/"), 404, "NOT_FOUND")


@pytest.mark.parametrize("path", PATHS)
def test_unusual_query_string_is_not_a_5xx(robust, path):
    statuses = {
        (method, query): robust.request(method, f"{path}?{query}").status
        for method in PATHS[path]
        for query in QUERIES
    }

    assert max(statuses.values()) < 500, statuses


def test_query_string_does_not_change_the_response(robust):
    assert robust.get("me?format=xml&x=%00").error == (401, "UNAUTHORIZED")


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "nonsense", "*/*;q=0", ""])
def test_response_is_json_for_any_accept_header(robust, accept):
    answer = robust.get("me", headers={"Accept": accept})

    assert is_refusal(answer, 401, "UNAUTHORIZED")


def test_slash_at_the_end_is_explained_under_debug_only(api, settings):
    assert "slash" not in api.post("login/").body["message"]

    settings.DEBUG = True
    answer = api.post("login/")

    assert answer.error == (404, "NOT_FOUND")
    assert "No path of this service ends with a slash." in answer.body["message"]
    assert "slash" not in api.get("nowhere").body["message"]
