"""The route that issues a CSRF token, in the JSON response and in a cookie."""

from __future__ import annotations

from typing import TypedDict

from django.http import HttpResponse

from authservice.core.api.endpoint import Endpoint
from authservice.core.api.token_cookies import session_of
from authservice.csrf import guard
from authservice.csrf.conf import conf
from authservice.kernel.http import envelope
from authservice.kernel.http.operations import carries, operation


@carries("Set-Cookie")
class IssuedCsrfToken(TypedDict):
    """The token to send in the request header; the cookie contains the same token."""

    csrf_token: str


class Csrf(Endpoint):
    path = "csrf-token"
    route = "csrf-token"
    public = True

    @operation("GET", answer=IssuedCsrfToken)
    def issue(self) -> HttpResponse:
        """Get a CSRF token

        Every request that changes something needs a CSRF token: the one of the cookie that this
        response sets, repeated in the header `X-CSRF-Token`. Call it with credentials.

        Fetch a new token after a login and after a logout, because the token belongs to the
        session. It is valid for an hour. On 403 `INVALID_CSRF` fetch another one and repeat the
        request once.
        """
        token = guard.issue(session_of(self.request))
        issued: IssuedCsrfToken = {"csrf_token": token}
        response = envelope.answer(issued)
        envelope.put_cookie(
            response,
            conf.cookie_name,
            token,
            ttl=conf.ttl,
            httponly=False,
            samesite=conf.cookie_samesite,
        )
        return response
