"""The guard against forged requests; it is called before every state-changing request.

A page of another site can make a browser send a request with all our cookies. It cannot read our
cookie, set a header without a CORS preflight, or forge its own origin. So the token must be in both
the cookie and the header, and the request must come from a trusted origin.
"""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest
from django.utils.crypto import constant_time_compare

from authservice.csrf import origins, tokens
from authservice.csrf.conf import conf
from authservice.kernel import errors
from authservice.kernel.http import cookies
from authservice.kernel.http.origins import target_origin
from authservice.kernel.interfaces import asks_for, refuses

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
        raise errors.InvalidCsrf(_UNTRUSTED_ORIGIN)
    given = meta.get(header_key(), "")
    if not given or not constant_time_compare(given, cookies.get(request, conf.cookie_name)):
        raise errors.InvalidCsrf
    if not tokens.is_valid(given, session_id):
        raise errors.InvalidCsrf


def header_key() -> str:
    """The key of the header in `request.META`."""
    return "HTTP_" + conf.header_name.upper().replace("-", "_")
