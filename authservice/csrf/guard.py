"""The guard against forged requests; it is called before every state-changing request.

A page of another site can make a browser send a request with all our cookies. It cannot read our
cookie, set a header without a CORS preflight, or forge its own origin. So the token must be in both
the cookie and the header, and the request must come from a trusted origin.
"""

from __future__ import annotations

import logging
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare

from authservice.csrf import origins, tokens
from authservice.csrf.conf import conf
from authservice.kernel import errors
from authservice.kernel.http import cookies
from authservice.kernel.http.client import network
from authservice.kernel.http.origins import target_origin
from authservice.kernel.interfaces import asks_for, refuses

logger = logging.getLogger("authservice.csrf")

_NO_COOKIE = (
    "there is no cookie: browsers do not send it from pages of another site, and localhost and"
    " 127.0.0.1 are two sites"
)
_LONGEST_PATH = 200
_UNTRUSTED_ORIGIN = "Requests from this origin are not allowed."


@refuses(errors.InvalidCsrf)
@asks_for(lambda: conf.header_name)
def guard(request: HttpRequest, session_id: UUID | None = None) -> None:
    """Refuse a request without a valid CSRF token. Raises `InvalidCsrf`.

    `session_id` is the session that a token cookie identifies; the CSRF token must belong to it.
    """
    meta = request.META
    origin, site = meta.get("HTTP_ORIGIN", ""), meta.get("HTTP_SEC_FETCH_SITE", "")
    if not origins.may_call(origin, site, target_origin(request) if origin else ""):
        reason = f"the origin {origin or site!r:.200} is not trusted"
        raise _refusal(request, reason, _UNTRUSTED_ORIGIN)
    given, kept = meta.get(header_key(), ""), cookies.get(request, conf.cookie_name)
    if not given:
        raise _refusal(request, f"there is no header {conf.header_name}")
    if not kept:
        raise _refusal(request, _NO_COOKIE)
    if not constant_time_compare(given, kept):
        raise _refusal(request, "header and cookie differ")
    if fault := tokens.fault_of(given, session_id):
        raise _refusal(request, fault)


def _refusal(request: HttpRequest, reason: str, message: str = "") -> errors.InvalidCsrf:
    """The fault; the reason is logged. The message has it only under `DEBUG`, so that a hostile
    page does not learn what to change."""
    # The path, not the query string, which may have a token. `ascii` keeps lines of a forged path
    # from looking like entries of the log.
    logger.warning(
        "Refused %s %s from %s: %s.",
        request.method,
        ascii(request.path[:_LONGEST_PATH]),
        network(request) or "an unknown address",
        reason,
    )
    message = message or errors.InvalidCsrf.message
    return errors.InvalidCsrf(f"{message} ({reason})" if settings.DEBUG else message)


def header_key() -> str:
    """The key of the header in `request.META`."""
    return "HTTP_" + conf.header_name.upper().replace("-", "_")
