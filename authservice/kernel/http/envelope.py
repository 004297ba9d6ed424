"""Every answer's shape: `{"data": …, "message"?}`, and the headers that go with it."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, overload

from django.core.signals import got_request_exception
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from authservice.kernel import errors
from authservice.kernel.settings import api

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


def crash(request: HttpRequest, request_id: str) -> HttpResponse:
    """The answer to an exception nobody foresaw: logged in full, told to trackers, not leaked."""
    logger.exception("Unhandled exception in request %s", request_id, extra={"request": request})
    got_request_exception.send(sender=None, request=request)
    return refusal(errors.InternalError())


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
