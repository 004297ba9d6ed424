"""CSRF tokens, and the slot `request_guard`, which refuses forged requests.

A page of another site can make a browser send a request with all our cookies. It cannot read our
cookie, set a header without a CORS preflight, or forge its own origin. So the token must be in both
the cookie and the header, and the request must come from a trusted origin. A client that sends
neither `Origin` nor `Sec-Fetch-Site` is not a current browser: only its token is checked.

A token is a nonce and the session id, signed with the time of issue. The signature distinguishes
our cookie from one that another host has set. The session id makes a token that an attacker fetched
for their own session useless for the session of another user. Tokens are not stored.
"""

from __future__ import annotations

import logging
import secrets
from uuid import UUID

from django.conf import settings
from django.core.signing import BadSignature, SignatureExpired
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare

from authservice.csrf.conf import conf
from authservice.kernel import errors, secret
from authservice.kernel.http import envelope
from authservice.kernel.http.incoming import address_of, target_origin
from authservice.kernel.interfaces import RequestGuard
from authservice.kernel.origins import normal
from authservice.kernel.sections import frontend, root
from authservice.kernel.settings import cached

_PURPOSE = "csrf"
_NONCE = 16  # bytes
_LONGEST_TOKEN = 256  # characters
_FOREIGN = "the token was not issued by this service"
# Values of `Sec-Fetch-Site` that exclude a page of another origin; "" for no header.
_SAME_ORIGIN = ("", "same-origin", "none")
logger = logging.getLogger("authservice.csrf")
_NO_COOKIE = (
    "there is no cookie: browsers do not send it from pages of another site, and localhost and"
    " 127.0.0.1 are two sites"
)
_LONGEST_PATH = 200  # characters in the log
_UNTRUSTED_ORIGIN = "Requests from this origin are not allowed."


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
            # A client that sends none of the three headers is not a browser: browsers send `Origin`
            # with every POST. The response sets no cookies, so even if the client were a browser, a
            # page could not log its visitors in as another user (login CSRF).
            browser = origin or site or meta.get("HTTP_COOKIE")
            if not browser:
                envelope.leave_out_cookies(request)
            if bearer or not browser:
                return
        in_header, in_cookie = (
            meta.get(header_key(), ""),
            envelope.get_cookie(request, conf.cookie_name),
        )
        if not in_header:
            raise _refusal(request, f"there is no header {conf.header_name}")
        if not in_cookie:
            raise _refusal(request, _NO_COOKIE)
        if not constant_time_compare(in_header, in_cookie):
            raise _refusal(request, "header and cookie differ")
        if fault := fault_of(in_header, session_id):
            raise _refusal(request, fault)

    def trusts(self, origin: str) -> bool:
        return origin in trusted()

    def header(self) -> str:
        return conf.header_name

    def required_of_all(self) -> bool:
        return not conf.exempt_bearer


guard = Guard()


def _refusal(request: HttpRequest, reason: str, message: str = "") -> errors.InvalidCsrf:
    """The fault to raise; logs the reason. The message has the reason only under `DEBUG`, so that a
    hostile page does not learn what to change."""
    # The query string, which may have a token, is not logged. `ascii` keeps lines of a forged path
    # from looking like entries of the log.
    logger.warning(
        "Refused %s %s from %s: %s.",
        request.method,
        ascii(request.path[:_LONGEST_PATH]),
        address_of(request.META)[1] or "an unknown address",
        reason,
    )
    message = message or errors.InvalidCsrf.message
    return errors.InvalidCsrf(f"{message} ({reason})" if settings.DEBUG else message)


def header_key() -> str:
    """The key of the header in `request.META`."""
    return "HTTP_" + conf.header_name.upper().replace("-", "_")


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


def issue(session_id: UUID | None = None) -> str:
    """A new token: for the session that the token cookies identify, or for none."""
    value = f"{secrets.token_hex(_NONCE)}.{_hex(session_id)}"
    return secret.timestamp_signer(_PURPOSE).sign(value)


def fault_of(token: str, session_id: UUID | None = None) -> str:
    """Why a token is refused: it is not authentic, has expired or, if a session is given, was not
    issued for it. "" if it is valid."""
    if len(token) > _LONGEST_TOKEN:
        return _FOREIGN
    try:
        value = secret.timestamp_signer(_PURPOSE).unsign(token, max_age=conf.ttl)
    except SignatureExpired:
        return "the token is older than CSRF.TTL"
    except BadSignature:
        return _FOREIGN
    owner = value.partition(".")[2]
    if session_id is not None and owner != _hex(session_id):
        return "the token was issued for another session; fetch one after signing in or out"
    return ""


def _hex(session_id: UUID | None) -> str:
    return session_id.hex if session_id else ""
