"""Request bodies, on every route that reads one: none causes a 5xx; refusals use the envelope."""

import json
from itertools import count

import pytest
from django.core.cache import caches

from authservice.core.models import Account
from authservice.kernel.modules import plugged
from tests.contract.shapes import is_refusal
from tests.support.modules import fillers
from tests.support.routes import Route, with_a_body

pytestmark = pytest.mark.django_db

KIB = 1024
NO_OBJECT = (400, "INVALID_REQUEST_BODY")
NO_JSON = (400, "INVALID_JSON")
TOO_LARGE = (413, "REQUEST_TOO_LARGE")
BODIES = {
    "array": (b"[]", NO_OBJECT),
    "array of objects": (b'[{"email": "a@example.com"}]', NO_OBJECT),
    "number": (b"7", NO_OBJECT),
    "string": (b'"email"', NO_OBJECT),
    "null": (b"null", NO_OBJECT),
    "truth": (b"true", NO_OBJECT),
    "blank": (b" ", NO_JSON),
    "cut off": (b'{"email": "a', NO_JSON),
    "trailing text": (b"{} {}", NO_JSON),
    "single quotes": (b"{'email': 'a'}", NO_JSON),
    "form": (b"email=a%40example.com&password=x", NO_JSON),
    "NUL outside a string": (b'{"email"\x00: "a"}', NO_JSON),
    "raw NUL in a string": (b'{"email": "a\x00"}', NO_JSON),
    "raw newline in a string": (b'{"email": "a\n"}', NO_JSON),
    "NaN": (b'{"email": NaN}', NO_JSON),
    "Infinity": (b'{"email": Infinity}', NO_JSON),
    "-Infinity": (b'{"email": -Infinity}', NO_JSON),
    "a number of 5000 digits": (b'{"email": ' + b"9" * 5000 + b"}", NO_JSON),
    "invalid UTF-8": (b'{"email": "\xff\xfe"}', NO_JSON),
    "UTF-8 of a surrogate": (b'{"email": "\xed\xa0\x80"}', NO_JSON),
    "byte order mark": (b"\xef\xbb\xbf{}", NO_JSON),
    "UTF-16": ("{}".encode("utf-16"), NO_JSON),
    "deep arrays": (b"[" * 30_000, NO_JSON),
    "deep arrays, closed": (b"[" * 30_000 + b"]" * 30_000, NO_JSON),
    "deep objects": (b'{"a":' * 10_000 + b"1" + b"}" * 10_000, NO_JSON),
    "101 levels of arrays": (b'{"a":' + b"[" * 100 + b"]" * 100 + b"}", NO_JSON),
    "101 levels of objects": (b'{"a":' * 101 + b"1" + b"}" * 101, NO_JSON),
    "64 KiB and one": (b"{}" + b" " * (64 * KIB - 1), TOO_LARGE),
    "10 MB": (b" " * 10_000_000, TOO_LARGE),
}
# Refusals that a route may give for an empty object.
UNRELATED = (
    *("VALIDATION_ERROR", "USER_NOT_FOUND", "CANNOT_MODIFY_SELF", "SESSION_NOT_FOUND"),
    *("INVITATION_NOT_FOUND", "ORG_NOT_FOUND", "OAUTH_NOT_LINKED", "OAUTH_INVALID_STATE"),
    *("SELF_DELETE_DISABLED", "PASSKEY_NOT_FOUND"),
)
FORM = "application/x-www-form-urlencoded"
UNSUPPORTED = (
    "text/plain",
    "multipart/form-data; boundary=x",
    FORM,
    "application/json; charset=utf-16",
    "application/json; charset=latin-1",
    "application/vnd.api+json",
    "text/json",
    "nonsense",
    "",
)
SUPPORTED = (
    "application/json",
    "Application/JSON",
    "application/json; charset=utf-8",
    "application/json;charset=UTF-8",
    'application/json; charset="utf-8"',
)
# Each test walks all its inputs on one route: a test of its own for each took ten times as long.
each_route = pytest.mark.parametrize("route", with_a_body(), ids=str)


@pytest.fixture
def send(robust):
    """Send a body to a route, with the token of a new user where one is required."""
    numbers = count()

    def new_user(route: Route):
        if route.public:
            return ""
        token = robust.sign_up(f"user{next(numbers)}@example.com")["access_token"]
        if route.super_admin:
            Account.objects.update(is_super_admin=True)
        return token

    def send(route: Route, raw, *, token=None, **more):
        caches["default"].clear()  # the requests are not what a limit is about
        sender = new_user(route) if token is None else token
        return robust.request(route.method, route.path, raw, token=sender, **more)

    send.new_user = new_user

    # Some routes refuse a request if no messenger is installed.
    with plugged("messenger", fillers.messenger):
        yield send


@each_route
def test_invalid_body_is_refused_with_its_own_code(send, route):
    token = send.new_user(route)  # what is refused changes nothing, so one user sends them all
    answers = {
        name: (send(route, raw, token=token), error) for name, (raw, error) in BODIES.items()
    }

    assert {
        name for name, (answer, error) in answers.items() if not is_refusal(answer, *error)
    } == set()


@each_route
def test_body_of_64_kib_is_accepted(send, route):
    padding = "x" * (64 * KIB - len('{"x":""}'))
    raw = json.dumps({"x": padding}, separators=(",", ":"))
    assert len(raw) == 64 * KIB

    assert send(route, raw).status < 413


@each_route
def test_body_of_another_content_type_is_unsupported(send, route):
    others = [it for it in UNSUPPORTED if not (route.takes_form and it == FORM)]
    token = send.new_user(route)
    answers = {it: send(route, b"{}", token=token, content_type=it) for it in others}

    assert [it for it in others if not is_refusal(answers[it], 415, "UNSUPPORTED_MEDIA_TYPE")] == []


@each_route
def test_body_of_json_in_utf_8_is_supported(send, route):
    statuses = {it: send(route, b"{}", content_type=it).status for it in SUPPORTED}

    assert {it: status for it, status in statuses.items() if status in (415, 500)} == {}


@each_route
@pytest.mark.parametrize("content_type", ["", "text/plain"])
def test_empty_body_is_empty_object_without_content_type(send, route, content_type):
    empty = send(route, b"", content_type=content_type)

    assert empty.status == 200 or empty.code in UNRELATED


@each_route
def test_body_with_invalid_content_length_is_not_a_5xx(send, route):
    lengths = ("", "nonsense", "-1", "1e3")
    statuses = {length: send(route, b"{}", CONTENT_LENGTH=length).status for length in lengths}

    assert max(statuses.values()) < 500, statuses


@each_route
def test_body_with_duplicate_keys_is_not_a_5xx(send, route):
    raw = b'{"password": "x", "password": 7, "refresh_token": "x", "refresh_token": 7}'

    assert send(route, raw).status < 500


def test_smaller_body_limit_of_the_host_applies(api, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100

    answer = api.post("login", email="a" * 200, password="x")

    assert is_refusal(answer, 413, "REQUEST_TOO_LARGE")
