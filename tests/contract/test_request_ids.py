"""X-Request-ID: kept if it is safe, otherwise generated; sent with every response."""

from uuid import uuid4

import pytest

from tests.support.routes import routes

pytestmark = pytest.mark.django_db

GOOD = ("a", "7f3a-1", "A.b_c-9", "x" * 128)
BAD = ("", " ", "a b", "a\tb", "x" * 129, "\u00e4", "a/b", "<script>", "a,b", "%0d%0a", "{}")
EVERYWHERE = [(route.method, route.path) for route in routes()] + [
    ("GET", "nowhere"),
    ("FOO", "login"),
    ("OPTIONS", "login"),
]


@pytest.mark.parametrize(("method", "path"), EVERYWHERE)
def test_every_response_has_the_request_id(robust, method, path):
    answer = robust.request(method, path, headers={"X-Request-ID": "trace-1"})

    assert answer.headers["X-Request-ID"] == "trace-1"


@pytest.mark.parametrize("request_id", GOOD)
def test_safe_request_id_is_kept(robust, request_id):
    assert (
        robust.get("me", headers={"X-Request-ID": request_id}).headers["X-Request-ID"] == request_id
    )


@pytest.mark.parametrize("request_id", BAD)
def test_unsafe_request_id_is_replaced(robust, request_id):
    made = robust.get("me", headers={"X-Request-ID": request_id}).headers["X-Request-ID"]

    assert made != request_id
    assert len(made) == 32
    assert int(made, 16)


def test_absent_request_id_is_generated_for_each_request(robust):
    assert robust.get("me").headers["X-Request-ID"] != robust.get("me").headers["X-Request-ID"]


def request_id(get_response):
    """The middleware of docs/other_packages.rst, for packages that read the header before us."""

    def middleware(request):
        request.META.setdefault("HTTP_X_REQUEST_ID", uuid4().hex)
        seen.append(request.META["HTTP_X_REQUEST_ID"])
        return get_response(request)

    return middleware


seen: list[str] = []


def test_id_that_a_middleware_sets_is_that_of_the_response(api, settings):
    settings.MIDDLEWARE = [f"{__name__}.request_id", *settings.MIDDLEWARE]

    answer = api.get("me")

    assert answer.headers["X-Request-ID"] == seen[-1]
