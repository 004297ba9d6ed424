"""The security schemes of requests: access tokens, and the headers that request guards require."""

from __future__ import annotations

from typing import Any

from authservice.kernel.http import cookies
from authservice.kernel.http.authentication import cookies_count
from authservice.kernel.modules import plugs
from authservice.kernel.sections import cookies as token_cookies
from authservice.openapi.routes import Route

_BEARER, _COOKIE, _GUARD = "bearer", "cookie", "guard"
# The default of all operations.
EVERYWHERE: list[dict[str, Any]] = [{_BEARER: []}]


def schemes() -> dict[str, Any]:
    """The schemes that the installed modules use, by name."""
    found = {_BEARER: {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}}
    if cookies_count():
        found[_COOKIE] = _key("cookie", cookies.name(token_cookies.access_name))
    for name, header in _guards().items():
        found[name] = {**_key("header", header), "description": "Obtained from `GET /csrf-token`."}
    return found


def of(route: Route) -> dict[str, Any]:
    """`security` of an operation if it is not the default. A request must satisfy one entry of the
    list."""
    guards: dict[str, Any] = {name: [] for name in _guards()} if route.guarded else {}
    if route.view.public:
        return {"security": [guards] if guards else []}
    schemes = (_BEARER, *([_COOKIE] if cookies_count() else ()))
    security = [{name: [], **guards} for name in schemes]
    return {} if security == EVERYWHERE else {"security": security}


def _guards() -> dict[str, str]:
    """Scheme name and header of each installed request guard."""
    headers = [filler.header() for filler in plugs("request_guard") if hasattr(filler, "header")]
    return {f"{_GUARD}{number or ''}": header for number, header in enumerate(headers)}


def _key(location: str, name: str) -> dict[str, str]:
    return {"type": "apiKey", "in": location, "name": name}
