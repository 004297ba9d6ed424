"""The security schemes of requests: access tokens, and the headers that request guards require."""

from __future__ import annotations

from typing import Any

from authservice.core.api.authentication import accepts_cookies
from authservice.kernel.http import cookies
from authservice.kernel.modules import plugs
from authservice.kernel.sections import cookies as token_cookies
from authservice.openapi.routes import Route

Scheme = dict[str, str]

_BEARER: Scheme = {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
# The default of all operations.
EVERYWHERE: list[dict[str, Any]] = [{"bearer": []}]


def schemes() -> dict[str, Scheme]:
    """The schemes that the installed modules use, by name."""
    return {**token_schemes(), **_guards()}


def token_schemes() -> dict[str, Scheme]:
    """The ways to send an access token, by name."""
    if not accepts_cookies():
        return {"bearer": _BEARER}
    name = cookies.name(token_cookies.access_name)
    return {"bearer": _BEARER, "cookie": {"type": "apiKey", "in": "cookie", "name": name}}


def of(route: Route) -> dict[str, Any]:
    """`security` of an operation if it is not the default. A request must satisfy one entry of the
    list."""
    guards: dict[str, Any] = {name: [] for name in _guards()} if route.guarded else {}
    if route.public:
        return {"security": [guards] if guards else []}
    security = [{name: [], **guards} for name in token_schemes()]
    return {} if security == EVERYWHERE else {"security": security}


def guard_headers() -> list[str]:
    """The header of each installed request guard."""
    return [filler.header() for filler in plugs("request_guard") if hasattr(filler, "header")]


def _guards() -> dict[str, Scheme]:
    return {
        f"guard{number or ''}": {
            "type": "apiKey",
            "in": "header",
            "name": header,
            "description": "Obtained from `GET /csrf-token`.",
        }
        for number, header in enumerate(guard_headers())
    }
