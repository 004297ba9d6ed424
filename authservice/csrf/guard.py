"""Fills the slot `request_guard`: refuses forged requests.

A page of another site can make a browser send a request with all our cookies. It cannot read our
cookie, set a header without a CORS preflight, or forge its own origin. So the token must be in both
the cookie and the header, and the request must come from a trusted origin. A client that sends
neither `Origin` nor `Sec-Fetch-Site` is not a current browser; for it only the token is checked.
"""

from __future__ import annotations

import logging
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare

from authservice.csrf import csrf_tokens
from authservice.csrf.conf import conf
from authservice.kernel import errors
from authservice.kernel.http import cookies
from authservice.kernel.http.own_origins import target_origin
from authservice.kernel.http.request_client import network
from authservice.kernel.interfaces import RequestGuard
from authservice.kernel.origins import normal
from authservice.kernel.sections import frontend, root
from authservice.kernel.settings import cached

_SAME_ORIGIN = ("", "same-origin", "none")
logger = logging.getLogger("authservice.csrf")
_NO_COOKIE = (
    "there is no cookie: browsers do not send it from pages of another site, and localhost and"
    " 127.0.0.1 are two sites"
)
_LONGEST_PATH = 200
_UNTRUSTED_ORIGIN = "Requests from this origin are not allowed."


def may_call(origin: str, site: str, own: str) -> bool:
    """Whether a request is from a trusted origin or from the service itself.

    `origin` and `site` are the headers `Origin` and `Sec-Fetch-Site`, or ""; `own` is the origin
    that the request was sent to.
    """
    if origin in trusted():
        return True
    return site in _SAME_ORIGIN and (not origin or origin == normal(own))


@cached
def trusted() -> frozenset[str]:
    """The origins of the service, of its front end and of `CSRF.TRUSTED_ORIGINS`."""
    urls = (root.api_url, frontend.url, *conf.trusted_origins)
    return frozenset(filter(None, map(normal, urls)))


class Guard(RequestGuard):
    """Requires the pair of cookie and header, and a trusted origin."""

    faults = (errors.InvalidCsrf,)

    def check(
        self, request: HttpRequest, session_id: UUID | None = None, *, bearer: bool = False
    ) -> None:
        """Refuse a request without a valid CSRF token. Raises `InvalidCsrf`.

        The CSRF token must belong to the session that a token cookie identifies.
        """
        meta = request.META
        origin, site = meta.get("HTTP_ORIGIN", ""), meta.get("HTTP_SEC_FETCH_SITE", "")
        if not may_call(origin, site, target_origin(request) if origin else ""):
            reason = f"the origin {origin or site!r:.200} is not trusted"
            raise _refusal(request, reason, _UNTRUSTED_ORIGIN)
        if conf.exempt_bearer:
            # Without all three headers the client is not a browser: browsers send `Origin` with
            # every POST. The response sets no cookies, so even if this were a browser, a page could
            # not log its visitors in as another user (login CSRF).
            browser = origin or site or meta.get("HTTP_COOKIE")
            if not browser:
                cookies.leave_out(request)
            if bearer or not browser:
                return
        given, kept = meta.get(header_key(), ""), cookies.get(request, conf.cookie_name)
        if not given:
            raise _refusal(request, f"there is no header {conf.header_name}")
        if not kept:
            raise _refusal(request, _NO_COOKIE)
        if not constant_time_compare(given, kept):
            raise _refusal(request, "header and cookie differ")
        if fault := csrf_tokens.fault_of(given, session_id):
            raise _refusal(request, fault)

    def trusts(self, origin: str) -> bool:
        return origin in trusted()

    def header(self) -> str:
        return conf.header_name

    def required_of_all(self) -> bool:
        return not conf.exempt_bearer


guard = Guard()


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
