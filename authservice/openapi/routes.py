"""All routes of the URLconf."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import get_resolver

from authservice.kernel.http.operations import Operation

_WORD = re.compile(r"\w+")
_PARAMETER = re.compile(r"<(?:[^>:]+:)?([^>]+)>")
_VERBS = {"get": "get", "post": "create", "put": "update", "patch": "patch", "delete": "delete"}


@dataclass(frozen=True, kw_only=True)
class Route:
    """One method of a path. `path` is in OpenAPI syntax, without the mount; `parameters` are its
    converters by name; `operation` is the declaration of the action, or None; `alone` is true if
    the path has no other method, `public` if no access token is needed, `guarded` if request
    guards, if installed, check the route."""

    name: str
    path: str
    parameters: Mapping[str, Any]
    method: str
    view: Any
    operation: Operation | None
    alone: bool
    public: bool
    guarded: bool

    @property
    def takes_body(self) -> bool:
        return self.method != "get"

    @property
    def id(self) -> str:
        """The operation id, such as `signup`, `getMe` or `deleteSession`: the declared one, or the
        route's name, with a verb unless POST is the only method."""
        given = self.operation.id if self.operation else ""
        words = self.name.split("-")
        if self.method != "post" or not self.alone:
            words.insert(0, _VERBS[self.method])
        return given or words[0] + "".join(word.capitalize() for word in words[1:])

    @property
    def describes_itself(self) -> bool:
        """Whether the route serves the description or its pages, which clients do not call."""
        return bool(self.view.__module__.startswith("authservice.openapi."))


def routes() -> list[Route]:
    """All routes in the order of the URLconf, which is flat, except the one for unknown paths and
    the pages for people."""
    patterns: list[Any] = get_resolver("authservice.urls").url_patterns
    ours = (one for one in patterns if one.name != "unknown" and hasattr(one.callback, "cls"))
    return [route for pattern in ours for route in _of(pattern)]


def _of(pattern: Any) -> list[Route]:
    """The routes of one path."""
    view, actions = pattern.callback.cls, pattern.callback.actions
    path = "/" + _PARAMETER.sub(r"{\1}", str(pattern.pattern))
    methods = [method for method in actions if method != "head"]
    return [
        Route(
            # A route of an app of the project may have none.
            name=pattern.name or "-".join(_WORD.findall(path)),
            path=path,
            parameters=pattern.pattern.converters,
            method=method,
            view=view,
            operation=getattr(getattr(view, actions[method]), "operation", None),
            alone=len(methods) == 1,
            public=view.is_public(actions[method]),
            guarded=method != "get" and not view.guard_exempt,
        )
        for method in methods
    ]
