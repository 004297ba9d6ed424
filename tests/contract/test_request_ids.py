"""X-Request-ID: accepted if harmless, else made; echoed on every answer."""

import pytest

from tests.routes import routes

pytestmark = pytest.mark.django_db

GOOD = ("a", "7f3a-1", "A.b_c-9", "x" * 128)
BAD = ("", " ", "a b", "a\tb", "x" * 129, "\u00e4", "a/b", "<script>", "a,b", "%0d%0a", "{}")
EVERYWHERE = [(route.method, route.path) for route in routes()] + [
    ("GET", "nowhere"),
    ("FOO", "login"),
    ("OPTIONS", "login"),
]


@pytest.mark.parametrize(("method", "path"), EVERYWHERE)
def test_every_answer_echoes_it(robust, method, path):
    answer = robust.request(method, path, headers={"X-Request-ID": "trace-1"})

    assert answer.headers["X-Request-ID"] == "trace-1"


@pytest.mark.parametrize("mark", GOOD)
def test_a_harmless_one_is_kept(robust, mark):
    assert robust.get("me", headers={"X-Request-ID": mark}).headers["X-Request-ID"] == mark


@pytest.mark.parametrize("mark", BAD)
def test_any_other_is_replaced(robust, mark):
    made = robust.get("me", headers={"X-Request-ID": mark}).headers["X-Request-ID"]

    assert made != mark
    assert len(made) == 32
    assert int(made, 16)


def test_none_is_made_anew_each_time(robust):
    assert robust.get("me").headers["X-Request-ID"] != robust.get("me").headers["X-Request-ID"]
