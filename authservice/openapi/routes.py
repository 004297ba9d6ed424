"""All routes of the URLconf, and how callers prove who they are: access tokens as security schemes,
and the headers that request guards require as parameters.

A guard is no security scheme: generated clients send the access token by every scheme.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import get_resolver

from authservice.core.api.callers import accepts_cookies
from authservice.kernel.http import cookies
from authservice.kernel.http.operations import Operation
from authservice.kernel.interfaces import RequestGuard
from authservice.kernel.modules import plugs
from authservice.kernel.sections import cookies as token_cookies

_WORD = re.compile(r"\w+")
_PARAMETER = re.compile(r"<(?:[^>:]+:)?([^>]+)>")
# The first words of operation ids, by method.
_VERBS = {"get": "get", "post": "create", "put": "update", "patch": "patch", "delete": "delete"}
_BEARER = {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
# By `required_of_all()`: whether clients without cookies must send the header too.
_REQUIRED = {
    True: "Every client must send it.",
    False: "Browsers must send it, and clients that send cookies instead of a bearer token.",
}
# The default of all operations.
EVERYWHERE: list[dict[str, Any]] = [{"bearer": []}]


@dataclass(frozen=True, kw_only=True)
class Route:
    """One method of a path. `path` is in OpenAPI syntax, without the mount; `parameters` are its
    converters by name; `action` is its name and `operation` its declaration, or None; `alone` is
    true if the path has no other method, `public` if no access token is needed, `guarded` if
    request guards, if installed, check the route."""

    name: str
    path: str
    parameters: Mapping[str, Any]
    method: str
    view: Any
    action: str
    operation: Operation | None
    alone: bool
    public: bool
    guarded: bool

    @property
    def takes_body(self) -> bool:
        """Whether `Endpoint` reads the body: that of every method that is not safe."""
        return self.method != "get"

    @property
    def id(self) -> str:
        """The operation id, such as `signup`, `getMe` or `deleteSession`: the declared one, or the
        route's name, with a verb unless POST is the only method."""
        declared = self.operation.id if self.operation else ""
        words = self.name.split("-")
        if self.method != "post" or not self.alone:
            words.insert(0, _VERBS[self.method])
        return declared or words[0] + "".join(word.capitalize() for word in words[1:])

    @property
    def describes_itself(self) -> bool:
        """Whether the route serves the description or its pages, which clients do not call."""
        return bool(self.view.__module__.startswith("authservice.openapi."))

    @property
    def security(self) -> dict[str, Any]:
        """`security` of the operation if it is not the default. A request must satisfy one entry of
        the list."""
        if self.public:
            return {"security": []}
        security: list[dict[str, Any]] = [{name: []} for name in token_schemes()]
        return {} if security == EVERYWHERE else {"security": security}


def routes() -> list[Route]:
    """All routes in the order of the URLconf, which is flat, except the one for unknown paths and
    the pages for people."""
    all_routes: list[Route] = []
    patterns: list[Any] = get_resolver("authservice.urls").url_patterns
    for pattern in patterns:
        if pattern.name == "unknown" or not hasattr(pattern.callback, "cls"):
            continue
        view, actions = pattern.callback.cls, pattern.callback.actions
        path = "/" + _PARAMETER.sub(r"{\1}", str(pattern.pattern))
        methods = [method for method in actions if method != "head"]
        all_routes += [
            Route(
                # A route of an app of the project may have no name.
                name=pattern.name or "-".join(_WORD.findall(path)),
                path=path,
                parameters=pattern.pattern.converters,
                method=method,
                view=view,
                action=actions[method],
                operation=getattr(getattr(view, actions[method]), "operation", None),
                alone=len(methods) == 1,
                public=view.is_public(actions[method]),
                guarded=method != "get" and not view.guard_exempt,
            )
            for method in methods
        ]
    return all_routes


def token_schemes() -> dict[str, dict[str, str]]:
    """The ways to send an access token, by name."""
    if not accepts_cookies():
        return {"bearer": _BEARER}
    name = cookies.name(token_cookies.access_name)
    return {"bearer": _BEARER, "cookie": {"type": "apiKey", "in": "cookie", "name": name}}


def guard_headers() -> list[str]:
    """The header of each installed request guard."""
    return [guard.header() for guard in plugs(RequestGuard) if guard.header()]


def guard_parameters() -> list[dict[str, Any]]:
    """The header of each installed request guard, as a parameter. The parameter is optional,
    because clients add the header to all requests in one place instead of naming it with each."""
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
