"""The routes of a module, and which of their actions ask for a fresh or a stronger proof
(`STEP_UP`).

The routes are the classes with a `path` in the views of the module, then those of its URLconf.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from importlib import import_module
from typing import Any, NamedTuple

from django.urls import path

from authservice.core.conf import step_up as conf
from authservice.core.login.step_up import Need
from authservice.kernel.levels import OWN
from authservice.kernel.modules import ModuleConfig, installed
from authservice.kernel.settings import cached, cached_for_host, convert


@cached_for_host
def routes_of(module: ModuleConfig) -> list[Any]:
    """The entries of a URLconf. Of the classes, those whose path has parameters come last:
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


_PARAMETER = re.compile(r"<[^>]*>|\{[^}]*\}")


class Route(NamedTuple):
    """One action of a view: its name, such as `DELETE /org/{}`, and the function."""

    name: str
    view: Any
    action: Any


def routes() -> Iterator[Route]:
    """Every action of the installed modules that needs a signed-in user."""
    for module in installed():
        for route in routes_of(module):
            view = getattr(route.callback, "cls", None)
            for method, action in getattr(route.callback, "actions", {}).items():
                # Django adds HEAD to a view that has GET, with the same action.
                if view is not None and method != "head" and not view.is_public(action):
                    name = _plain(f"{method.upper()} /{route.pattern}")
                    yield Route(name, view, getattr(view, action))


@cached
def needs() -> Mapping[Any, Need]:
    """What the guarded actions ask for, by their functions."""
    extra_needs = {_plain(name): need_of(entry) for name, entry in conf.further_routes.items()}
    strict = Need(OWN, conf.max_age)
    guarded: dict[Any, Need] = {}
    for name, view, action in routes():
        if name in extra_needs:
            guarded[action] = extra_needs[name]
        elif conf.routes == "strict" and (
            action.__name__ in view.strict_actions
            or (view.super_admin and not name.startswith("GET "))
        ):
            guarded[action] = strict
    return guarded


def may_guard(view: Any, action: str) -> bool:
    """Whether some requests to this action need a fresh proof, for the API description."""
    in_part = conf.routes == "strict" and action in view.strict_in_part
    return in_part or getattr(view, action) in needs()


def need_of(entry: Mapping[str, Any]) -> Need:
    """What an entry of `STEP_UP.FURTHER_ROUTES` asks for."""
    return Need(entry.get("acr", OWN), convert(entry.get("max_age"), timedelta | None))


def unknown() -> list[str]:
    """The names in `STEP_UP.FURTHER_ROUTES` that belong to no route for signed-in users."""
    names = {route.name for route in routes()}
    return [name for name in conf.further_routes if _plain(name) not in names]


def _plain(name: str) -> str:
    """The name of a route with `{}` for each parameter: nobody needs to know the names of
    parameters."""
    return _PARAMETER.sub("{}", name)
