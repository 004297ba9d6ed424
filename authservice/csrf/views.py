"""Issues a CSRF token: in the JSON response and in a cookie."""

from __future__ import annotations

from typing import TypedDict

from django.http import HttpResponse

from authservice.core.api.endpoint import Endpoint
from authservice.core.api.token_cookies import session_of
from authservice.csrf import tokens
from authservice.csrf.conf import conf
from authservice.kernel.http import cookies
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.operations import carries, operation


@carries("Set-Cookie")
class CsrfToken(TypedDict):
    """The token to send in the request header; the cookie contains the same token."""

    csrf_token: str


class Csrf(Endpoint):
    public = True

    @operation("Get a CSRF token", answer=CsrfToken)
    def issue(self) -> HttpResponse:
        token = tokens.issue(session_of(self.request))
        issued: CsrfToken = {"csrf_token": token}
        response = answer(issued)
        cookies.put(
            response,
            conf.cookie_name,
            token,
            ttl=conf.ttl,
            httponly=False,
            samesite=conf.cookie_samesite,
        )
        return response
