"""What a request has to bring, as security schemes: a token, and what a guard asks for."""

from __future__ import annotations

from typing import Any

from authservice.kernel.http import cookies
from authservice.kernel.http.authentication import cookies_count
from authservice.kernel.modules import plugs
from authservice.kernel.sections import cookies as token_cookies
from authservice.openapi.routes import Route

_BEARER, _COOKIE, _GUARD = "bearer", "cookie", "guard"
EVERYWHERE: list[dict[str, Any]] = [{_BEARER: []}]


def schemes() -> dict[str, Any]:
    """By name, those that anything installed asks for."""
    found = {_BEARER: {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}}
    if cookies_count():
        found[_COOKIE] = _key("cookie", cookies.name(token_cookies.access_name))
    for name, header in _guards().items():
        found[name] = {**_key("header", header), "description": "See `GET /csrf-token`."}
    return found


def of(route: Route) -> dict[str, Any]:
    """`security` of an operation, where it is not that of most: any one of the list will do."""
    guards: dict[str, Any] = {name: [] for name in _guards()} if route.guarded else {}
    if route.view.public:
        return {"security": [guards] if guards else []}
    either = (_BEARER, *([_COOKIE] if cookies_count() else ()))
    asked = [{name: [], **guards} for name in either]
    return {} if asked == EVERYWHERE else {"security": asked}


def _guards() -> dict[str, str]:
    """Scheme and header of each guard that is installed."""
    headers = [filler.header() for filler in plugs("request_guard") if hasattr(filler, "header")]
    return {f"{_GUARD}{number or ''}": header for number, header in enumerate(headers)}


def _key(place: str, name: str) -> dict[str, str]:
    return {"type": "apiKey", "in": place, "name": name}
