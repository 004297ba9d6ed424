"""Every answer's shape: `{"data": …, "message"?}`, and the headers that go with it."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, overload

from django.core.signals import got_request_exception
from django.db import InterfaceError, OperationalError, connections
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from authservice.kernel import errors
from authservice.kernel.http.redaction import redact
from authservice.kernel.sections import api

logger = logging.getLogger("authservice.request")

# Bearer is the only scheme, and naming it on every 401 is what RFC 9110 section 15.5.2 asks.
_CHALLENGE = {"WWW-Authenticate": "Bearer"}


def answer(
    data: Any = None,
    *,
    message: str = "",
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> HttpResponse:
    """A JSON answer. Nothing the service says may be cached: it is about one person."""
    body = {"data": data, "message": message} if message else {"data": data}
    response = HttpResponse(
        json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode(),
        content_type="application/json",
        status=status,
    )
    response.headers["Cache-Control"] = "no-store"
    for name, value in (headers or {}).items():
        response.headers[name] = value
    return response


def refusal(fault: errors.Fault) -> HttpResponse:
    """A fault as the error envelope; the text stands twice, for simple clients."""
    data: dict[str, Any] = {"code": fault.code, "message": fault.message}
    if fault.details and api.error_details:
        data["details"] = dict(fault.details)
    headers = {**_CHALLENGE, **fault.headers} if fault.status == 401 else fault.headers
    return answer(data, message=fault.message, status=fault.status, headers=headers)


def crash(request: HttpRequest, request_id: str, wrong: Exception) -> HttpResponse:
    """The answer to an unexpected exception, which is logged and signalled to error trackers.

    503 where the database cannot be reached, so that clients try again.
    """
    redact(request)
    logger.exception("Unhandled exception in request %s", request_id, extra={"request": request})
    got_request_exception.send(sender=None, request=request)
    return refusal(errors.ServiceUnavailable() if _is_away(wrong) else errors.InternalError())


def _is_away(wrong: Exception) -> bool:
    """Whether the database cannot be reached, rather than that it refused a statement."""
    if not isinstance(wrong, OperationalError | InterfaceError):
        return False
    # A connection inside a transaction was reached, and may refuse to be asked anything more.
    asked = [one for one in connections.all(initialized_only=True) if not one.in_atomic_block]
    return any(one.connection is None or not one.is_usable() for one in asked)


@overload
def utc(moment: datetime) -> str: ...
@overload
def utc(moment: None) -> None: ...
@overload
def utc(moment: datetime | None) -> str | None: ...


def utc(moment: datetime | None) -> str | None:
    """ISO 8601 in UTC with microseconds and `Z`, whatever the host's time zone settings."""
    if moment is None:
        return None
    if timezone.is_naive(moment):
        moment = timezone.make_aware(moment, timezone.get_default_timezone())
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"
