"""The response envelope, `{"data": …, "message"?}`, the headers of every response, and cookies:
`__Host-` and `Secure` if and only if the service is reached over HTTPS.

Before error reports and error trackers read a request that crashed, its secrets are removed.
Reports show the query string, form fields, cookies and headers. Django hides some of them by name,
but not if DEBUG is on. The tokens of e-mailed links are in the query string.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, TypeAlias, overload

from django.core.signals import got_request_exception
from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils import timezone
from django.utils.cache import patch_vary_headers

from authservice.kernel import databases, errors, languages, sections

SameSite: TypeAlias = Literal["Lax", "Strict", "None"]

_cookie_logger = logging.getLogger("authservice.cookies")

# Name, value and attributes together, in bytes; browsers silently drop longer cookies.
_LONGEST_COOKIE = 4096
_ATTRIBUTES = 160


def cookie_name(plain: str) -> str:
    """The cookie's name with `__Host-`, which binds it to this host: subdomains can neither read
    nor set it (RFC 6265bis)."""
    return f"__Host-{plain}" if sections.secure() else plain


def get_cookie(request: HttpRequest, plain: str) -> str:
    value: str = request.COOKIES.get(cookie_name(plain), "")
    return value if len(value) <= _LONGEST_COOKIE else ""  # no browser stores a longer one


def cookies_starting_with(request: HttpRequest, plain: str) -> dict[str, str]:
    """The cookies of the request whose names start with `plain`, by their names without prefix."""
    prefix = cookie_name("")
    return {
        key.removeprefix(prefix): value
        for key, value in request.COOKIES.items()
        if key.startswith(cookie_name(plain))
    }


def leave_out_cookies(request: HttpRequest) -> None:
    """Let the response to this request set no cookie: a guard found that its client keeps none.

    `put_cookie` does not know the request. What finishes the response asks `cookies_are_unwanted`.
    """
    request.__dict__["_authservice_without_cookies"] = True


def cookies_are_unwanted(request: HttpRequest) -> bool:
    """Whether `leave_out_cookies` was called for this request."""
    return "_authservice_without_cookies" in request.__dict__


def put_cookie(
    response: HttpResponse,
    plain: str,
    value: str,
    *,
    ttl: timedelta,
    httponly: bool = True,
    samesite: SameSite = "Lax",
) -> None:
    if len(plain) + len(value) + _ATTRIBUTES > _LONGEST_COOKIE:
        # The browser would keep the previous cookie, which may belong to another user.
        _cookie_logger.error(
            "The cookie %s exceeds %d bytes and is not set", plain, _LONGEST_COOKIE
        )
        forget_cookie(response, plain, samesite=samesite)
        return
    response.set_cookie(
        cookie_name(plain),
        value,
        max_age=int(ttl.total_seconds()),
        path="/",
        secure=sections.secure(),
        httponly=httponly,
        samesite=samesite,
    )


def forget_cookie(response: HttpResponse, plain: str, *, samesite: SameSite = "Lax") -> None:
    response.delete_cookie(cookie_name(plain), path="/", samesite=samesite)


HIDDEN = "[hidden]"
# Words in the names of headers that contain secrets, among them a `CSRF.HEADER_NAME` of the host.
_HEADER_WORDS = ("AUTHORIZATION", "COOKIE", "CSRF", "SECRET", "TOKEN", "XSRF")
# Parameters of the query string, and form fields, that contain secrets or personal data.
_PARAMETERS = frozenset(
    {
        "token",
        "code",
        "temp_token",
        "refresh_token",
        "password",
        "new_password",
        "old_password",
        # Callbacks of identity providers; `user` is the profile that Apple sends.
        "state",
        "id_token",
        "access_token",
        "user",
    }
)
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
    """A JSON response. A `message` of the data is translated."""
    has_text = bool(message)
    if isinstance(data, Mapping) and "message" in data:
        data = {**data, "message": languages.translated(data["message"])}
        has_text = True
    body = {"data": data, "message": message} if message else {"data": data}
    response = HttpResponse(
        # A text of the project may contain half of a surrogate pair, which UTF-8 cannot encode.
        _encode(body).encode(errors="replace"),
        content_type="application/json",
        status=status,
    )
    for name, value in (headers or {}).items():
        response.headers[name] = value
    if has_text:
        languages.label(response)
    return response


def refusal(fault: errors.Fault) -> HttpResponse:
    """The error envelope of a fault. The top level repeats the message, for simple clients."""
    text = fault.text
    data: dict[str, Any] = {"code": fault.code, "message": text, **fault.fields}
    if fault.details and sections.api.error_details:
        data["details"] = fault.texts
    headers = {**_CHALLENGE, **fault.headers} if fault.status == 401 else fault.headers
    response = answer(data, message=text, status=fault.status, headers=headers)
    keep_from_caches(response)  # also for views of the host project that refuse with this function
    return response


def keep_from_caches(response: HttpResponse) -> None:
    """Let no cache store the response, unless it says itself that it is public.

    A response may contain personal data, and the next one to the same address may differ: after a
    logout, for another user, or because a link works once. `no-store` is the rule of RFC 9111 for
    that. Django's per-site cache obeyed only `private` before 5.2.15. A cache that obeys neither
    may at least not give the response to another user (`Vary`). A public response is the same for
    every caller: with `Vary`, a cache would keep a copy of it for each caller.
    """
    if "public" in response.headers.get("Cache-Control", ""):
        return
    response.headers["Cache-Control"] = "no-store, private"
    if "Vary" in response.headers:
        patch_vary_headers(response, ("Authorization", "Cookie"))
    else:
        response.headers["Vary"] = "Authorization, Cookie"


def crash(request: HttpRequest, request_id: str, error: Exception) -> errors.Fault:
    """Log an unexpected exception and report it to error trackers; returns the error for clients.

    503 if the database is away for the moment, so that clients retry; otherwise 500.
    """
    redact(request)
    if databases.is_outage(error):
        # Error trackers get what the log gets: an outage would use up their quota.
        if databases.outages.add(error):
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


def redact(request: HttpRequest) -> None:
    """Replace the values of secrets in place; everything else stays available for debugging."""
    request.GET = _hidden(request.GET)  # type: ignore[assignment]
    # Servers, proxies and browsers add whole URLs: `RAW_URI` (gunicorn), `REQUEST_URI` (uWSGI),
    # `HTTP_X_ORIGINAL_URI` (nginx), `HTTP_REFERER`. Other servers use other names.
    for name, value in request.META.items():
        if isinstance(value, str) and name.endswith("_QUERY_STRING"):
            request.META[name] = HIDDEN
        elif isinstance(value, str) and "?" in value:
            request.META[name] = f"{value.partition('?')[0]}?{HIDDEN}"
    # `safe` has the brackets of `HIDDEN`.
    request.META["QUERY_STRING"] = request.GET.urlencode(safe="[]")
    with suppress(Exception):  # reports cannot show an unreadable body either
        request.POST = _hidden(request.POST)  # type: ignore[assignment]
    request.COOKIES = dict.fromkeys(request.COOKIES, HIDDEN)
    for name in request.META:
        if name.startswith("HTTP_") and any(word in name for word in _HEADER_WORDS):
            request.META[name] = HIDDEN


def _hidden(fields: QueryDict) -> QueryDict:
    copy = fields.copy()
    for name in _PARAMETERS & copy.keys():
        copy[name] = HIDDEN
    return copy


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
