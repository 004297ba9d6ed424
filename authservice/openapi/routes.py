"""Every route that is mounted, as the URLconf has it."""

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
    """A method of a path; `path` is as OpenAPI writes it, without the mount."""

    name: str
    path: str
    method: str
    view: Any
    action: str
    parameters: Mapping[str, Any]
    alone: bool

    @property
    def operation(self) -> Operation | None:
        """What its action says of itself."""
        return getattr(getattr(self.view, self.action), "operation", None)

    @property
    def takes_body(self) -> bool:
        return self.method != "get"

    @property
    def guarded(self) -> bool:
        """Whether a guard against forged requests is asked, where one is installed."""
        return self.takes_body and not self.view.guard_exempt

    @property
    def id(self) -> str:
        """`signup`, `getMe`, `deleteSession`: of the route's name, and of the method if need be."""
        given = self.operation.id if self.operation else ""
        words = self.name.split("-")
        if self.method != "post" or not self.alone:
            words.insert(0, _VERBS[self.method])
        return given or words[0] + "".join(word.capitalize() for word in words[1:])

    @property
    def tag(self) -> str:
        """The module that has the route, in words."""
        label = "authservice_" + self.view.__module__.split(".")[1]
        if label in apps.app_configs:
            return str(apps.get_app_config(label).verbose_name)
        return str(self.view.__module__.split(".")[1].capitalize())


def routes() -> list[Route]:
    """In the order of the URLconf, but for the one that answers everything else."""
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
