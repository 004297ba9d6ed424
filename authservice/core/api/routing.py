"""The routes of a module: the classes with a `path` in its views, then those of its URLconf."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from django.urls import path

from authservice.kernel.modules import ModuleConfig
from authservice.kernel.settings import cached_for_host


@cached_for_host
def routes_of(module: ModuleConfig) -> list[Any]:
    """The entries of a URLconf. Paths with parameters come last in the views, because
    `passkeys/<str:passkey_id>` would also match `passkeys/signals`."""
    files = (module.views,) if isinstance(module.views, str) else module.views
    endpoints = [endpoint for file in files for endpoint in _endpoints(file)]
    endpoints.sort(key=lambda endpoint: "<" in endpoint.path)
    routes = [path(each.path, each.as_view(), name=each.route) for each in endpoints]
    return routes + (import_module(module.urls).urlpatterns if module.urls else [])


def _endpoints(name: str) -> Iterator[Any]:
    """The routes of this file, in its order. A class that it imports belongs to another module."""
    for member in vars(import_module(name)).values():
        if isinstance(member, type) and member.__module__ == name and "path" in vars(member):
            yield member
