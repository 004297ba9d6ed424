"""Bodies in chunks, which have no length, compressed bodies, and how deep JSON may be nested."""

import gzip
import json
from io import BytesIO

import pytest
from django.http import HttpResponse

from authservice.kernel.http import incoming
from tests.support.client import PASSWORD

pytestmark = pytest.mark.django_db

SIGN_UP = json.dumps({"email": "ann@example.com", "password": PASSWORD}).encode()


class Stream(BytesIO):
    """The input of a WSGI server, of which each `read` returns one chunk."""

    def read(self, size=-1):
        return super().read(min(size, 7) if size >= 0 else 7)


@pytest.fixture
def chunked(api):
    """`chunked(octets)` sends a sign-up in chunks to a server whose input ends with the body."""

    def send(octets, ends=True, **meta):
        meta = {
            "HTTP_TRANSFER_ENCODING": "chunked",
            "CONTENT_LENGTH": "",
            "CONTENT_TYPE": "application/json",
            "wsgi.input": Stream(octets),
            "wsgi.input_terminated": ends,
            **meta,
        }
        return api.request("POST", "signup", b"", **meta)

    return send


def test_body_in_chunks_is_read(chunked):
    assert chunked(SIGN_UP).status == 201


def test_body_in_chunks_is_kept_for_a_middleware_of_the_project(chunked, settings):
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, f"{__name__}.ReadsLater"]

    assert chunked(SIGN_UP).status == 201
    assert ReadsLater.seen == SIGN_UP


class ReadsLater:
    seen = b""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request) -> HttpResponse:
        response = self.get_response(request)
        type(self).seen = request.body
        return response


def test_body_in_chunks_may_be_empty(chunked):
    assert chunked(b"").error == (400, "VALIDATION_ERROR")


@pytest.mark.parametrize(
    ("octets", "error"),
    [
        (b"{", (400, "INVALID_JSON")),
        (b"[]", (400, "INVALID_REQUEST_BODY")),
        (b'"' + b"x" * incoming.BODY_LIMIT + b'"', (413, "REQUEST_TOO_LARGE")),
    ],
)
def test_body_in_chunks_has_the_rules_of_any_body(chunked, octets, error):
    assert chunked(octets).error == error


def test_body_in_chunks_of_exactly_the_limit_is_read(chunked):
    assert chunked(SIGN_UP + b" " * (incoming.BODY_LIMIT - len(SIGN_UP))).status == 201
    assert chunked(SIGN_UP + b" " * (incoming.BODY_LIMIT - len(SIGN_UP) + 1)).status == 413


def test_type_of_a_body_in_chunks_is_checked(chunked):
    assert chunked(SIGN_UP, CONTENT_TYPE="text/plain").error == (415, "UNSUPPORTED_MEDIA_TYPE")


def test_body_in_chunks_without_a_defined_end_is_refused(chunked):
    refused = chunked(SIGN_UP, ends=False)

    assert refused.error == (400, "INVALID_REQUEST_BODY")
    assert "Content-Length" in refused.data["message"]


@pytest.mark.parametrize("encoding", ["gzip", "GZIP", "br", "deflate", "gzip, identity", "x"])
@pytest.mark.parametrize("path", ["signup", "verify-email"])
def test_compressed_body_is_refused_as_such(api, encoding, path):
    octets = gzip.compress(SIGN_UP)

    refused = api.request("POST", path, octets, HTTP_CONTENT_ENCODING=encoding)

    assert refused.error == (415, "UNSUPPORTED_MEDIA_TYPE")
    assert "Content-Encoding" in refused.data["message"]
    assert refused.headers["Accept-Encoding"] == "identity"


@pytest.mark.parametrize("encoding", ["", "identity", "Identity"])
def test_body_that_is_not_compressed_may_say_so(api, encoding):
    assert api.request("POST", "signup", SIGN_UP, HTTP_CONTENT_ENCODING=encoding).status == 201


def test_header_without_a_body_is_ignored(api):
    answer = api.request("POST", "signup", b"", HTTP_CONTENT_ENCODING="gzip")

    assert answer.error == (400, "VALIDATION_ERROR")


def nested(levels):
    """JSON texts of that many levels."""
    half, odd = divmod(levels, 2)
    innermost = "[]" if odd else "1"
    return {
        "arrays": "[" * levels + "]" * levels,
        "objects": '{"a":' * (levels - 1) + "{}" + "}" * (levels - 1),
        "both": '[{"a":' * half + innermost + "}]" * half,
        "last of many": "[1, {}, [2], " + "[" * (levels - 1) + "]" * (levels - 1) + ', "x"]',
        "beside a text": '["[[[{{{\\"", ' + "[" * (levels - 1) + "]" * (levels - 1) + "]",
    }


@pytest.mark.parametrize("shape", nested(1))
def test_json_may_have_a_hundred_levels(shape):
    text = nested(100)[shape]

    assert incoming.read_json(text) == json.loads(text)


@pytest.mark.parametrize("levels", [101, 1000, 10_000, 200_000])
@pytest.mark.parametrize("shape", nested(1))
def test_json_of_more_levels_is_refused_on_every_release_of_python(shape, levels):
    with pytest.raises(ValueError, match="nested too deeply"):
        incoming.read_json(nested(levels)[shape])


@pytest.mark.parametrize("text", ["7", '"["', "null", "[]", "{}", "[" + "[],{}," * 9000 + "7]"])
def test_json_of_few_levels_is_read(text):
    assert incoming.read_json(text) == json.loads(text)
