"""All routes of the URLconf."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.urls import URLPattern, URLResolver, get_resolver
from django.urls.resolvers import RoutePattern

from authservice.kernel.http.operations import Operation

_PARAMETER = re.compile(r"<(?:[^>:]+:)?([^>]+)>")
_VERBS = {"get": "get", "post": "create", "put": "update", "patch": "patch", "delete": "delete"}


@dataclass(frozen=True, kw_only=True)
class Route:
    """One method of a path. `path` is in OpenAPI syntax, without the mount; `alone` is true if the
    path has no other method."""

    name: str
    path: str
    method: str
    view: Any
    action: str
    parameters: Mapping[str, Any]
    alone: bool

    @property
    def operation(self) -> Operation | None:
        """The declaration of the action, or None."""
        return getattr(getattr(self.view, self.action), "operation", None)

    @property
    def takes_body(self) -> bool:
        return self.method != "get"

    @property
    def guarded(self) -> bool:
        """Whether request guards, if installed, check this route."""
        return self.takes_body and not self.view.guard_exempt

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
    def tag(self) -> str:
        """The readable name of the module that the route belongs to."""
        label = "authservice_" + self.view.__module__.split(".")[1]
        if label in apps.app_configs:
            return str(apps.get_app_config(label).verbose_name)
        return str(self.view.__module__.split(".")[1].capitalize())


def routes() -> list[Route]:
    """All routes in the order of the URLconf, except the one for unknown paths."""
    return list(_routes(get_resolver("authservice.urls"), "/", {}))


def _routes(resolver: URLResolver, prefix: str, outer: Mapping[str, Any]) -> Iterator[Route]:
    for entry in resolver.url_patterns:
        converters = getattr(entry.pattern, "converters", {})
        path = prefix + _PARAMETER.sub(r"{\1}", str(entry.pattern))
        if isinstance(entry, URLResolver):
            yield from _routes(entry, path, {**outer, **converters})
        elif isinstance(entry, URLPattern) and isinstance(entry.pattern, RoutePattern):
            actions = getattr(entry.callback, "actions", {})
            methods = {method: action for method, action in actions.items() if method != "head"}
            for method, action in methods.items():
                yield Route(
                    name=entry.name or "",
                    path=path,
                    method=method,
                    view=getattr(entry.callback, "cls", None),
                    action=action,
                    parameters={**outer, **converters},
                    alone=len(methods) == 1,
                )
