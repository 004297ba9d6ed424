"""Request bodies: a JSON object of at most 64 KiB, or nothing; on a few routes a form."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, QueryDict, RawPostDataException, UnreadablePostError

from authservice.kernel import errors

LIMIT = 64 * 1024
_DRAIN = 16 * 1024 * 1024
_CHUNK = 64 * 1024
FORM = "application/x-www-form-urlencoded"


def read(request: HttpRequest) -> dict[str, Any]:
    """The body as a dict; an empty one is an empty dict and needs no content type."""
    raw = _octets(request)
    if not raw:
        return {}
    _require_json(request)
    parsed = _parse(raw)
    if not isinstance(parsed, dict):
        raise errors.InvalidRequestBody
    return parsed


def read_form(request: HttpRequest) -> dict[str, Any]:
    """The body of a route that a page of HTML posts to: a form's fields, or JSON as elsewhere."""
    if request.content_type != FORM:
        return read(request)
    return QueryDict(_octets(request), encoding="utf-8").dict()


def receive(request: HttpRequest) -> None:
    """Take the body in, whatever it is; `read` says later what is wrong with it."""
    with suppress(OSError, ValueError, RequestDataTooBig, RawPostDataException):
        if _length(request) <= LIMIT:
            request.body  # noqa: B018 kept by the request


def _length(request: HttpRequest) -> int:
    return int(request.META.get("CONTENT_LENGTH") or 0)


def _octets(request: HttpRequest) -> bytes:
    try:
        if _length(request) > LIMIT:
            _drain(request)
            raise errors.RequestTooLarge
        raw = request.body
    except RequestDataTooBig as wrong:
        raise errors.RequestTooLarge from wrong
    except RawPostDataException as wrong:
        # A middleware of the host has looked for form fields, which spends a multipart body.
        _require_json(request)
        raise errors.InvalidRequestBody from wrong
    except (UnreadablePostError, ValueError) as wrong:
        raise errors.InvalidRequestBody from wrong
    if len(raw) > LIMIT:
        raise errors.RequestTooLarge
    if not raw and "HTTP_TRANSFER_ENCODING" in request.META:
        # WSGI does not say where a body without a length ends, so Django reads none of it.
        raise errors.InvalidRequestBody("The body must come with a Content-Length.")
    return raw


def _require_json(request: HttpRequest) -> None:
    if request.content_type != "application/json" or not _is_utf8(request):
        raise errors.UnsupportedMediaType


def _drain(request: HttpRequest) -> None:
    # A server that closes on unread bytes resets the connection, and the refusal would be lost.
    # What is read is thrown away and bounded.
    for _ in range(_DRAIN // _CHUNK):
        if not request.read(_CHUNK):
            return


def _is_utf8(request: HttpRequest) -> bool:
    charset = (request.content_params or {}).get("charset", "utf-8")
    return charset.lower().replace("-", "") == "utf8"


def _parse(raw: bytes) -> Any:
    try:
        return json.loads(raw.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError) as wrong:  # deep nesting exhausts the parser's stack
        raise errors.InvalidJSON from wrong


def _refuse(constant: str) -> None:
    raise ValueError(constant)  # NaN and Infinity are not JSON (RFC 8259 section 6)
