"""The response envelope, `{"data": …, "message"?}`, and the headers of every response."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, overload

from django.core.signals import got_request_exception
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from authservice.kernel import errors, languages, outages
from authservice.kernel.http.redaction import redact
from authservice.kernel.phrases import translated
from authservice.kernel.sections import api

logger = logging.getLogger("django.request")

# RFC 9110 section 15.5.2 requires a challenge on every 401. Bearer is the only scheme here.
_CHALLENGE = {"WWW-Authenticate": "Bearer"}
# `json.dumps` with options builds an encoder for each call.
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def answer(
    data: Any = None,
    *,
    message: str = "",
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> HttpResponse:
    """A JSON response. It must not be cached, because it may contain personal data. A `message` of
    the data is translated."""
    texts = bool(message)
    if isinstance(data, Mapping) and "message" in data:
        data, texts = {**data, "message": translated(data["message"])}, True
    body = {"data": data, "message": message} if message else {"data": data}
    response = HttpResponse(
        # A text of the project may contain half of a surrogate pair, which UTF-8 cannot encode.
        _encode(body).encode(errors="replace"),
        content_type="application/json",
        status=status,
    )
    response.headers["Cache-Control"] = "no-store"
    for name, value in (headers or {}).items():
        response.headers[name] = value
    if texts:
        languages.label(response)
    return response


def refusal(fault: errors.Fault) -> HttpResponse:
    """The error envelope of a fault. The top level repeats the message, for simple clients."""
    text = fault.text
    data: dict[str, Any] = {"code": fault.code, "message": text}
    if fault.details and api.error_details:
        data["details"] = fault.texts
    headers = {**_CHALLENGE, **fault.headers} if fault.status == 401 else fault.headers
    return answer(data, message=text, status=fault.status, headers=headers)


def crash(request: HttpRequest, request_id: str, error: Exception) -> errors.Fault:
    """Log an unexpected exception and report it to error trackers; returns the error for clients.

    503 if the database is away for the moment, so that clients retry; otherwise 500.
    """
    redact(request)
    if outages.is_outage(error):
        # Error trackers get what the log gets: an outage would use up their quota.
        if outages.log.add(error):
            got_request_exception.send(sender=None, request=request)
        return errors.ServiceUnavailable()
    # The logger of Django's own errors, so that `mail_admins` reports the traceback.
    logger.error(
        "Internal Server Error: %s (request %s)",
        request.path,
        request_id,
        exc_info=error,
        extra={"status_code": 500, "request": request},
    )
    got_request_exception.send(sender=None, request=request)
    return errors.InternalError()


@overload
def utc(moment: datetime) -> str: ...
@overload
def utc(moment: None) -> None: ...
@overload
def utc(moment: datetime | None) -> str | None: ...


def utc(moment: datetime | None) -> str | None:
    """ISO 8601 in UTC with microseconds and `Z`, regardless of the host project's time zone."""
    if moment is None:
        return None
    if timezone.is_naive(moment):
        moment = timezone.make_aware(moment, timezone.get_default_timezone())
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"
