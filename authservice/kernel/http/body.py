"""Request bodies: a JSON object of at most 64 KiB, or empty; some routes also accept a form."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, QueryDict, RawPostDataException, UnreadablePostError

from authservice.kernel import errors
from authservice.kernel.phrases import Phrase, phrase

LIMIT = 64 * 1024
# Of a body that is too long, at most this many bytes are read.
_MAX_DISCARDED = 16 * 1024 * 1024
_CHUNK = 64 * 1024
FORM = "application/x-www-form-urlencoded"
_NO_LENGTH = phrase("A request with a body must have a Content-Length header.")
_ENCODED = phrase("A body with a Content-Encoding is not accepted. Send it without compression.")
_NO_FORM = phrase(
    "The body must be sent as application/json or application/x-www-form-urlencoded, in UTF-8."
)


def read(request: HttpRequest, refusal: Phrase | None = None) -> dict[str, Any]:
    """The body as a dict. An empty body is an empty dict and needs no content type. `refusal`
    replaces the message of `UnsupportedMediaType`."""
    raw = _octets(request)
    if not raw:
        return {}
    _require_json(request, refusal)
    try:
        parsed = json.loads(raw.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:  # deep nesting exhausts the parser's stack
        raise errors.InvalidJSON from error
    if not isinstance(parsed, dict):
        raise errors.InvalidRequestBody
    return parsed


def read_form(request: HttpRequest) -> dict[str, Any]:
    """The body of a route that an HTML page submits to: form fields, or JSON as elsewhere."""
    if request.content_type != FORM:
        # Not `multipart/form-data` either: it can have files, and these routes take none.
        return read(request, _NO_FORM)
    return QueryDict(_octets(request), encoding="utf-8").dict()


def receive(request: HttpRequest) -> None:
    """Read the body into memory without validating it; `read` raises the errors later. Only
    `RequestTooLarge` is raised here, for a body in chunks: its length is not known before."""
    with suppress(OSError, ValueError, RequestDataTooBig, RawPostDataException):
        if length(request) <= LIMIT:
            _received(request)


def length(request: HttpRequest) -> int:
    """What the header `Content-Length` says, in bytes; 0 without one. Raises `ValueError` if
    it is not a number."""
    return int(request.META.get("CONTENT_LENGTH") or 0)


def _octets(request: HttpRequest) -> bytes:
    """The body, after the checks of its length and encoding. Raises a `Fault`."""
    try:
        if length(request) > LIMIT:
            _discard(request)
            raise errors.RequestTooLarge
        raw = _received(request)
    except RequestDataTooBig as error:
        raise errors.RequestTooLarge from error
    except RawPostDataException as error:
        # A middleware of the host project has read form fields, which consumes a multipart body.
        _require_json(request)
        raise errors.InvalidRequestBody from error
    except (UnreadablePostError, ValueError) as error:
        raise errors.InvalidRequestBody from error
    if len(raw) > LIMIT:
        raise errors.RequestTooLarge
    if not raw and _is_chunked(request) and not _ends(request):
        raise errors.InvalidRequestBody(_NO_LENGTH)
    encoding = request.META.get("HTTP_CONTENT_ENCODING", "").strip().lower()
    if raw and encoding not in ("", "identity"):
        # RFC 9110 section 15.5.16: the header says what would be accepted.
        raise errors.UnsupportedMediaType(_ENCODED, headers={"Accept-Encoding": "identity"})
    return raw


def _received(request: HttpRequest) -> bytes:
    """The body, which the request keeps. Raises `RequestTooLarge` for a body in chunks that is
    longer than `LIMIT`.

    Django reads as many octets as Content-Length says. It reads none of a body in chunks, which has
    no Content-Length: in WSGI such a body has no defined end, unless the server says that its
    stream ends (`_ends`).
    """
    raw = request.body
    if raw or not _is_chunked(request) or not _ends(request):
        return raw
    stream = request.META["wsgi.input"]
    parts = []
    size = 0
    while size <= LIMIT and (part := stream.read(LIMIT + 1 - size)):
        parts.append(part)
        size += len(part)
    raw = b"".join(parts)
    if size > LIMIT:
        _discard(stream)
        raise errors.RequestTooLarge
    # Django keeps the body here, for a hook or a middleware of the project that reads it later.
    request._body = raw
    return raw


def _is_chunked(request: HttpRequest) -> bool:
    return "HTTP_TRANSFER_ENCODING" in request.META and not request.META.get("CONTENT_LENGTH")


def _ends(request: HttpRequest) -> bool:
    """Whether the stream of a WSGI server ends with the body, as that of gunicorn does."""
    return bool(request.META.get("wsgi.input_terminated"))


def _require_json(request: HttpRequest, refusal: Phrase | None = None) -> None:
    charset = (request.content_params or {}).get("charset", "utf-8").lower().replace("-", "")
    if request.content_type != "application/json" or charset != "utf8":
        raise errors.UnsupportedMediaType(refusal)


def _discard(stream: Any) -> None:
    # A server that closes a connection with unread bytes resets it, and the client would not get
    # the error response. So the rest of the body is read, up to a limit, and discarded.
    for _ in range(_MAX_DISCARDED // _CHUNK):
        if not stream.read(_CHUNK):
            return


def _refuse(constant: str) -> None:
    raise ValueError(constant)  # NaN and Infinity are not JSON (RFC 8259 section 6)
