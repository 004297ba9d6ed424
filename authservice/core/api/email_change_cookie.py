"""The cookie of the browser that requested another address: it needs no confirmation page."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from authservice.core.own_account.email_change import CHANGE_EMAIL
from authservice.core.users import identifiers
from authservice.core.users.person import Person
from authservice.kernel import crypto
from authservice.kernel.http import cookies

_COOKIE = "authservice_change_email"
_PURPOSE = "change-email-browser"


def put(response: HttpResponse, person: Person, email: str) -> None:
    """Store a keyed digest of account and address in the browser. It gives no access by itself."""
    kept = crypto.digest(_PURPOSE, _text(person, email))
    cookies.put(response, _COOKIE, kept, ttl=CHANGE_EMAIL.link_ttl)


def is_for(request: HttpRequest, person: Person, email: str) -> bool:
    """Whether this browser requested this address for this account."""
    kept = cookies.get(request, _COOKIE)
    return kept.isascii() and crypto.matches(_PURPOSE, _text(person, email), kept)


def _text(person: Person, email: str) -> str:
    return f"{person.id}|{identifiers.email_key(email)}"
