"""A path below the mount with a percent sign is unknown: a proxy's rule for a path must not be
passed by another spelling of it."""

from io import BytesIO

import pytest
from django.core.handlers.asgi import ASGIRequest
from django.test import Client, override_settings
from django.urls import include, path

from authservice.kernel.http.incoming import is_escaped
from tests.support.client import BASE, Answer
from tests.support.routes import routes

pytestmark = pytest.mark.django_db
NOT_FOUND = (404, "NOT_FOUND")
ROUTES = [(route.method, route.path.replace("<str:provider>", "acme")) for route in routes()]


def spellings(sent):
    """The path with one character escaped, in both cases of the digits, and twice."""
    for index in (1, len(sent) // 2, len(sent) - 1):
        code = f"%{ord(sent[index]):02x}"
        for escape in (code, code.upper(), code.replace("%", "%25")):
            yield sent[:index] + escape + sent[index + 1 :]


@pytest.mark.parametrize("name", ["RAW_URI", "REQUEST_URI"])
@pytest.mark.parametrize(("method", "route"), ROUTES)
def test_escaped_path_is_unknown(method, route, name):
    for sent in spellings(route):
        target = {name: f"{BASE}{sent}?a=%20"}

        assert Answer(Client().generic(method, BASE + sent, **target)).error == NOT_FOUND


@pytest.mark.parametrize(
    "sent", ["auth%2Flogin", "auth/%6cogin", "auth/oauth%2facme", "aut%68/login"]
)
def test_escaped_slash_below_the_mount_is_unknown(sent):
    answer = Answer(Client().post(f"/{sent}", RAW_URI=f"/{sent}"))

    assert (answer.error == NOT_FOUND) is (sent != "aut%68/login")


@pytest.mark.parametrize(
    "target",
    [
        "/auth/login",
        "/auth/login?email=a%40example.com",
        "/caf%C3%A9/auth/login",  # a proxy removes the first part
        "/sign-in",  # a proxy replaces the path
        "http://testserver/auth/login",
        "",
    ],
)
def test_other_percent_signs_are_allowed(target):
    assert Client().get("/auth/login", RAW_URI=target).status_code == 405


@pytest.mark.parametrize(
    ("raw", "escaped"),
    [
        (b"/auth/logi%6e", True),
        (b"/auth%2flogin", True),
        (b"/auth/login", False),
        (b"/auth/login?x=%20", False),
        (None, False),
    ],
)
def test_raw_path_of_an_asgi_server_counts(raw, escaped):
    scope = {"type": "http", "method": "GET", "path": "/auth/login", "query_string": b""}
    request = ASGIRequest({**scope, "headers": [], "raw_path": raw}, BytesIO())

    assert is_escaped(request) is escaped


def test_mount_may_need_escapes():
    urls = type("urls", (), {"urlpatterns": [path("über uns/", include("authservice.urls"))]})
    with override_settings(ROOT_URLCONF=urls):
        for sent, status in (("me", 401), ("m%65", 404)):
            target = f"/%C3%BCber%20uns/{sent}"

            assert Client().get(target, RAW_URI=target).status_code == status
