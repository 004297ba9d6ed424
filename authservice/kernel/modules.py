"""Modules and their slots: how core calls modules without importing them.

A module is a Django app whose AppConfig is a `ModuleConfig`. The attributes of the config declare
what the module provides: a slot contains the dotted path of a function or object (the filler), or a
tuple of paths. `plugs("login_gate")` returns the fillers of all installed modules in the order of
`INSTALLED_APPS`, resolved once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from django.apps import AppConfig, apps
from django.core import checks
from django.utils.module_loading import import_string

from authservice.kernel import settings

SLOTS = (
    "identify",
    "login_policy",
    "login_gate",
    "claims",
    "login_extras",
    "event_listener",
    "messenger",
    "request_guard",
    "trusted_origins",
    "message_builders",
    "revoke_unverified_access",
    "revoke_recent_access",
    "revoke_recent_factors",
    "expired_rows",
    "before_delete",
    "second_factor",
)
LOGIN_MODULES = ("authservice.session", "authservice.stateless")
_swapped: dict[str, tuple[Any, ...]] = {}

DEFAULT_LOGIN_MODULE = "authservice.stateless"


class ModuleConfig(AppConfig):
    """The configuration of a module: its URLconf and its fillers for the slots."""

    default_auto_field = "django.db.models.BigAutoField"
    urls: str | None = None

    # The signature of each slot is in `authservice.kernel.interfaces`.
    identify: str | None = None
    login_policy: str | None = None
    login_gate: str | None = None
    claims: str | None = None
    login_extras: str | None = None
    event_listener: str | None = None
    messenger: str | None = None
    request_guard: str | None = None
    trusted_origins: str | None = None
    message_builders: str | tuple[str, ...] | None = None
    revoke_unverified_access: str | None = None
    revoke_recent_access: str | None = None
    revoke_recent_factors: str | None = None
    expired_rows: str | None = None
    before_delete: str | None = None
    second_factor: str | None = None

    def ready(self) -> None:
        checks.register(check_core, "authservice")


def installed() -> Iterator[ModuleConfig]:
    return (config for config in apps.get_app_configs() if isinstance(config, ModuleConfig))


def slots_filled() -> Iterator[tuple[ModuleConfig, str, str]]:
    """(module, slot, dotted path) of every filled slot, for the resolver and the checks."""
    for config in installed():
        for slot in SLOTS:
            filled = getattr(config, slot) or ()
            for path in (filled,) if isinstance(filled, str) else filled:
                yield config, slot, path


@cache
def plugs(slot: str) -> tuple[Any, ...]:
    """The fillers of `slot` from all installed modules."""
    if slot in _swapped:
        return _swapped[slot]
    return tuple(import_string(path) for _, filled, path in slots_filled() if filled == slot)


def plug(slot: str) -> Any:
    """The one filler of a slot that takes one (the last installed wins), or None."""
    fillers = plugs(slot)
    return fillers[-1] if fillers else None


@contextmanager
def plugged(slot: str, filler: Any) -> Iterator[None]:
    """Within this context, `filler` is the only filler of the slot; for tests."""
    outer = _swapped.get(slot)
    _swapped[slot] = (filler,)
    plugs.cache_clear()
    try:
        yield
    finally:
        if outer is None:
            del _swapped[slot]
        else:
            _swapped[slot] = outer
        plugs.cache_clear()


def urlconfs() -> list[str]:
    """URLconfs to mount: those of the installed modules, and that of the default login module if no
    login module is installed."""
    paths = [config.urls for config in installed() if config.urls]
    if not any(apps.is_installed(name) for name in LOGIN_MODULES):
        paths.append(f"{DEFAULT_LOGIN_MODULE}.urls")
    return paths


def check_core(**_: Any) -> list[checks.CheckMessage]:
    if apps.is_installed("authservice.core"):
        return []
    return [
        checks.Error(
            "A module of authservice is installed, but 'authservice.core' is not.",
            hint="Add 'authservice.core' to INSTALLED_APPS.",
            id="authservice.E008",
        )
    ]


@settings.on_host_change
def _forget() -> None:
    plugs.cache_clear()
