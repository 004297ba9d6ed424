"""Access tokens as security schemes, and the headers that request guards require as parameters.

A guard is no security scheme: generated clients send the access token by every scheme.
"""

from __future__ import annotations

from typing import Any

from authservice.core.api.callers import accepts_cookies
from authservice.kernel.http import cookies
from authservice.kernel.interfaces import RequestGuard
from authservice.kernel.modules import plugs
from authservice.kernel.sections import cookies as token_cookies
from authservice.openapi.routes import Route

Scheme = dict[str, str]

_BEARER: Scheme = {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
# By whether clients without cookies must send the header as well.
_REQUIRED = {
    True: "Every client must send it.",
    False: "Browsers must send it, and clients that send cookies instead of a bearer token.",
}
# The default of all operations.
EVERYWHERE: list[dict[str, Any]] = [{"bearer": []}]


def token_schemes() -> dict[str, Scheme]:
    """The ways to send an access token, by name."""
    if not accepts_cookies():
        return {"bearer": _BEARER}
    name = cookies.name(token_cookies.access_name)
    return {"bearer": _BEARER, "cookie": {"type": "apiKey", "in": "cookie", "name": name}}


def of(route: Route) -> dict[str, Any]:
    """`security` of an operation if it is not the default. A request must satisfy one entry of the
    list."""
    if route.public:
        return {"security": []}
    security: list[dict[str, Any]] = [{name: []} for name in token_schemes()]
    return {} if security == EVERYWHERE else {"security": security}


def guard_headers() -> list[str]:
    """The header of each installed request guard."""
    return [guard.header() for guard in plugs(RequestGuard) if guard.header()]


def guard_parameters() -> list[dict[str, Any]]:
    """The header of each installed request guard, as a parameter. It is optional, because clients
    add it to all requests in one place instead of naming it with each."""
    return [
        {
            "name": guard.header(),
            "in": "header",
            "description": f"{_REQUIRED[guard.required_of_all()]} Obtained from `GET /csrf-token`.",
            "schema": {"type": "string"},
        }
        for guard in plugs(RequestGuard)
        if guard.header()
    ]
