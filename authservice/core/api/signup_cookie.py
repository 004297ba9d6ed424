"""The sign-up cookie: a browser that has it opens verification links without a confirmation page.

A mail scanner has no such cookie, so a link opened by it does not prove the address.
"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from authservice.core.credentials import one_time
from authservice.core.users import identifiers
from authservice.kernel import crypto
from authservice.kernel.http import cookies

_COOKIE = "authservice_signup"
_PURPOSE = "sign-up-browser"


def put(response: HttpResponse, email: str) -> None:
    """Store a keyed digest of the address in the browser. It gives no access by itself."""
    if email:
        kept = crypto.digest(_PURPOSE, identifiers.email_key(email))
        cookies.put(response, _COOKIE, kept, ttl=one_time.VERIFY_EMAIL.link_ttl)


def is_for(request: HttpRequest, email: str) -> bool:
    """Whether this browser signed up with this address."""
    kept = cookies.get(request, _COOKIE)
    return kept.isascii() and crypto.matches(_PURPOSE, identifiers.email_key(email), kept)
