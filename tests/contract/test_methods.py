"""Methods and unknown paths: everything below the mount answers in the envelope."""

import pytest

from tests.contract.shapes import is_refusal
from tests.routes import paths

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


def allowed(path):
    known = PATHS[path] | {"OPTIONS"} | ({"HEAD"} if "GET" in PATHS[path] else set())
    return ", ".join(sorted(known))


STRANGE = [
    (path, method)
    for path in PATHS
    for method in METHODS
    if method.upper() not in allowed(path).split(", ")
]


@pytest.mark.parametrize(("path", "method"), STRANGE)
def test_another_method_is_not_allowed_and_told_which_are(robust, path, method):
    answer = robust.request(method, path)

    assert answer.status == 405
    assert answer.headers["Allow"] == allowed(path)
    assert method == "HEAD" or is_refusal(answer, 405, "METHOD_NOT_ALLOWED")


@pytest.mark.parametrize("path", PATHS)
def test_a_refused_method_is_refused_before_any_token_is_looked_at(robust, path):
    assert robust.request("FOO", path, token="nonsense").status == 405


@pytest.mark.parametrize("path", PATHS)
def test_options_tells_the_methods_to_anybody(robust, path):
    answer = robust.request("OPTIONS", path)

    assert (answer.status, answer.body) == (200, {"data": None})
    assert answer.headers["Allow"] == allowed(path)


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "FOO"])
@pytest.mark.parametrize("path", UNKNOWN)
def test_an_unknown_path_is_not_found_whatever_the_method(robust, path, method):
    assert is_refusal(robust.request(method, path), 404, "NOT_FOUND")


@pytest.mark.parametrize("append", [True, False])
def test_a_trailing_slash_is_another_path_whatever_append_slash_says(robust, settings, append):
    settings.APPEND_SLASH = append

    assert is_refusal(robust.post("login/"), 404, "NOT_FOUND")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "query",
    [
        "email=%00&token=%00&limit=%00",
        "email=%ff%fe&token=%ff",
        "email=%ED%A0%80&token=%ED%A0%80",
        "email[]=a&token[a]=b&&&=&;",
        "email=a&email=b&token=a&token=b",
        "token=" + "a" * 5000,
        "limit=-1&offset=x&sort_field=%27",
        "%",
    ],
    ids=lambda query: query[:12],
)
def test_a_strange_query_crashes_nothing(robust, path, query):
    assert {robust.request(method, f"{path}?{query}").status for method in PATHS[path]} < set(
        range(500)
    )


def test_a_query_string_changes_nothing(robust):
    assert robust.get("me?format=xml&x=%00").error == (401, "UNAUTHORIZED")


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "nonsense", "*/*;q=0", ""])
def test_an_answer_is_json_whatever_is_accepted(robust, accept):
    answer = robust.get("me", headers={"Accept": accept})

    assert is_refusal(answer, 401, "UNAUTHORIZED")
