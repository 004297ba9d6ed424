"""Every route of the service, read from its URLconf, so that tests include new ones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.urls import URLResolver, get_resolver

_PARAMETER = re.compile(r"<[^>]+>")
_BODILESS = ("GET", "HEAD")


@dataclass(frozen=True)
class Route:
    path: str
    method: str
    public: bool
    super_admin: bool = False
    takes_form: bool = False

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def routes() -> list[Route]:
    return list(_routes())


def with_a_body() -> list[Route]:
    return [route for route in routes() if route.method not in _BODILESS]


def protected() -> list[Route]:
    return [route for route in routes() if not route.public]


def public() -> list[Route]:
    return [route for route in routes() if route.public]


def paths() -> dict[str, set[str]]:
    """The methods of every path."""
    found: dict[str, set[str]] = {}
    for route in routes():
        found.setdefault(route.path, set()).add(route.method)
    return found


def endpoints() -> Iterator[tuple[str, Any]]:
    """Every path with its view."""
    return _endpoints(get_resolver("authservice.urls"), "")


def _routes() -> Iterator[Route]:
    for path, view in endpoints():
        for method in view.actions:
            if method != "head":
                asked = _PARAMETER.sub("1", path), method.upper()
                cls = view.cls
                public = cls.is_public(view.actions[method])
                yield Route(*asked, public, cls.super_admin, cls.takes_form)


def _endpoints(resolver: URLResolver, prefix: str) -> Iterator[tuple[str, Any]]:
    for entry in resolver.url_patterns:
        path = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from _endpoints(entry, path)
        elif entry.name != "unknown" and hasattr(entry.callback, "actions"):  # not a page
            yield path, entry.callback
