"""Modules and their slots: how core calls modules without importing them.

A module is a Django app whose AppConfig is a `ModuleConfig`. The attributes of the config declare
what the module provides: a slot contains the dotted path of a function or object (the filler), or a
tuple of paths. `plugs("login_gate")` returns the fillers of all installed modules in the order of
`INSTALLED_APPS`, resolved once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

from django.apps import AppConfig, apps
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from authservice.kernel import settings

# Each slot, and when its fillers are called: the reference in the docs shows both.
SLOTS: Mapping[str, str] = {
    "login_policy": "When a session begins, is refreshed, is used or ends.",
    "login_gate": "By the one door, in its transaction, before a session begins.",
    "gate_columns": "When a login looks up its user.",
    "claims": "When an access token is issued; so is `CORE.CLAIMS_HOOK`.",
    "login_extras": "For the response to a login.",
    "event_listener": "By `events.record`, in the transaction of the action.",
    "messenger": "With each message, after the commit.",
    "request_guard": "Before a request that changes something.",
    "trusted_origins": "When a magic link is opened and tokens are kept in cookies.",
    "message_builders": "By the worker that sends messages.",
    "revoke_unverified_access": "At the first proof of an address.",
    "revoke_recent_access": "At a password reset by e-mail, and when an owner uses the link"
    ' "this was not me".',
    "distrust_earlier_access": "When a verification link proves an address, unless the browser or a"
    " session of the sign-up opened it.",
    "restore_access": 'When an owner uses the link "this was not me".',
    "revoke_recent_factors": 'When an owner uses the link "this was not me".',
    "fingerprint_rows": "When a login stores a better hash of the same password.",
    "expired_rows": "By `authservice_cleanup`.",
    "chosen_session_store": "For the store of sessions, unless `SESSION.STORE` is set.",
    "login_method": "Before the last way to log in is removed.",
    "before_delete": "When a user is deleted, by staff or by themselves, in the same transaction.",
    "second_factor": "By the login of Django admin, and by routes that require a second factor.",
    "import_sources": "By `authservice_import`.",
    "refresh_token_trade": "By a refresh, with a token that is not one of ours.",
    "revoke_foreign_tokens": "When all sessions of a user end, or all but one.",
    "support": "By the support page of a user in Django admin, and by `authservice_support_group`.",
    "link_pages": "When a browser opens a route to which mails link.",
}
LOGIN_MODULES = ("authservice.session", "authservice.stateless")
_swapped: dict[str, tuple[Any, ...]] = {}

CORE = "authservice.core"
DEFAULT_LOGIN_MODULE = "authservice.stateless"


class ModuleConfig(AppConfig):
    """The configuration of a module: its URLconf and its fillers for the slots."""

    default_auto_field = "django.db.models.BigAutoField"
    urls: str | None = None

    # The signature of each slot is in `authservice.kernel.interfaces`.
    login_policy: str | None = None
    login_gate: str | None = None
    gate_columns: str | None = None
    claims: str | None = None
    login_extras: str | None = None
    event_listener: str | None = None
    messenger: str | None = None
    request_guard: str | None = None
    trusted_origins: str | None = None
    message_builders: str | tuple[str, ...] | None = None
    revoke_unverified_access: str | None = None
    revoke_recent_access: str | None = None
    distrust_earlier_access: str | None = None
    restore_access: str | None = None
    revoke_recent_factors: str | None = None
    fingerprint_rows: str | None = None
    expired_rows: str | None = None
    chosen_session_store: str | None = None
    login_method: str | None = None
    before_delete: str | None = None
    second_factor: str | None = None
    import_sources: str | tuple[str, ...] | None = None
    refresh_token_trade: str | None = None
    revoke_foreign_tokens: str | None = None
    support: str | tuple[str, ...] | None = None
    link_pages: str | None = None

    def import_models(self) -> None:
        # Not a system check: models and checks of most modules import those of core, so Django
        # would stop before any check.
        if not apps.is_installed(CORE):
            raise ImproperlyConfigured(
                f"{self.name!r} requires {CORE!r}, which is not in INSTALLED_APPS. Add it before"
                " the other modules of authservice."
            )
        super().import_models()


def installed() -> Iterator[ModuleConfig]:
    """The installed modules, and the default login module if no login module is installed."""
    for config in apps.get_app_configs():
        if isinstance(config, ModuleConfig):
            yield config
    if not has_login_module():
        yield default_login_module()


def has_login_module() -> bool:
    return any(apps.is_installed(name) for name in LOGIN_MODULES)


@settings.cached_for_host
def default_login_module() -> ModuleConfig:
    """The configuration of the stateless module, which needs no entry in `INSTALLED_APPS`."""
    config = cast(ModuleConfig, AppConfig.create(DEFAULT_LOGIN_MODULE))
    config.apps, config.models = apps, {}  # as the registry sets them; the module has no models
    return config


def slots_filled() -> Iterator[tuple[ModuleConfig, str, str]]:
    """(module, slot, dotted path) of every filled slot, for the resolver and the checks."""
    for config in installed():
        for slot in SLOTS:
            filled = getattr(config, slot) or ()
            for path in (filled,) if isinstance(filled, str) else filled:
                yield config, slot, path


@settings.cached_for_host
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
    """The URLconfs to mount."""
    return [config.urls for config in installed() if config.urls]
