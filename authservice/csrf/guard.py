"""The guard against forged requests: asked before any state-changing request goes on.

A page of another site can make a browser send a request with all its cookies. It cannot read our
cookie, nor set a header without asking, nor lie about where it stands: so the token must come
twice, by cookie and by header, and from a place that may call.
"""

from __future__ import annotations

from contextlib import suppress
from uuid import UUID

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare

from authservice.csrf import origins, tokens
from authservice.csrf.conf import conf
from authservice.kernel import errors
from authservice.kernel.http import cookies
from authservice.kernel.interfaces import asks_for, refuses

_ELSEWHERE = "The request comes from a site that may not call."


@refuses(errors.InvalidCsrf)
@asks_for(lambda: conf.header_name)
def guard(request: HttpRequest, sign_in_id: UUID | None = None) -> None:
    """Raises `InvalidCsrf`; `sign_in_id` where a cookie of ours speaks for that sign-in."""
    meta = request.META
    origin, site = meta.get("HTTP_ORIGIN", ""), meta.get("HTTP_SEC_FETCH_SITE", "")
    if not origins.may_call(origin, site, _own(request) if origin else ""):
        raise errors.InvalidCsrf(_ELSEWHERE)
    given = meta.get(header_key(), "")
    if not given or not constant_time_compare(given, cookies.get(request, conf.cookie_name)):
        raise errors.InvalidCsrf
    if not tokens.holds(given, sign_in_id):
        raise errors.InvalidCsrf


def header_key() -> str:
    """The header's name as WSGI writes it."""
    return "HTTP_" + conf.header_name.upper().replace("-", "_")


def _own(request: HttpRequest) -> str:
    with suppress(DisallowedHost):
        return f"{request.scheme}://{request.get_host()}"
    return ""
