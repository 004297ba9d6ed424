"""Modules and their slots: how core calls modules without importing them.

A module is a Django app whose AppConfig is a `ModuleConfig`. The attributes of the config declare
what the module provides: a slot contains the dotted path of an object (the filler), or a tuple of
paths. A filler is an instance of a subclass of the base class of its slot. `plugs(SecondFactor)`
returns the fillers of all installed modules in the order of `INSTALLED_APPS`, resolved once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, TypeVar, cast, overload

from django.apps import AppConfig, apps
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string, module_has_submodule

from authservice.kernel import settings
from authservice.kernel.actions import ACTIONS, Action, declare

# Each slot, and when its fillers are called: the reference in the docs shows both.
SLOTS: Mapping[str, str] = {
    "login_policy": "When a session begins, is refreshed, is used or ends.",
    "second_factor": "By each login, by recoveries, and by routes that require a second factor.",
    "session_data": "When access tokens are issued, and for the response to a login.",
    "account_access": "By recoveries of an account, and before a way to log in is removed.",
    "foreign_tokens": "By a refresh with a token of another package, and when sessions end.",
    "request_guard": "Before a request that changes something.",
    "event_listener": "By `events.record`, in the transaction of the action.",
    "messenger": "With each message, after the commit.",
    "message_builders": "By the worker that sends messages.",
    "expired_rows": "By `authservice_cleanup`.",
    "support": "By the support page of a user in Django admin, by `authservice_support_group`, and"
    " by the export of a user's data.",
    "link_pages": "When a browser opens a route to which mails link.",
    "account_section": "By the pages of the account.",
}
LOGIN_MODULES = ("authservice.session", "authservice.stateless")
_PACKAGE = Path(__file__).parents[1]
# Slots whose fillers are functions.
FUNCTIONS = ("message_builders", "expired_rows")
# Slots that take one filler: of several, the last one counts (`authservice.W281`).
SINGLE = ("login_policy", "foreign_tokens", "messenger", "link_pages")
# Fillers that `plugged` has put in the place of those of the modules.
_swapped: dict[str, tuple[Any, ...]] = {}

CORE = "authservice.core"
DEFAULT_LOGIN_MODULE = "authservice.stateless"


class Slot:
    """Base of the base classes of slots, whose methods do nothing unless a filler overrides them.

    `slot` is the name of the slot. The check `authservice.E008` reports a filler with a public name
    that its base class does not have: nothing would ever call it.
    """

    slot: ClassVar[str]


Filler = TypeVar("Filler", bound=Slot)


class _NotTheBaseClass:
    """The value of `default`: False for `ModuleConfig` itself, and absent for its subclasses."""

    def __get__(self, config: AppConfig | None, owner: type[AppConfig]) -> bool:
        if owner is ModuleConfig:
            return False
        raise AttributeError("default")


class ModuleConfig(AppConfig):
    """The configuration of a module: its routes and its fillers for the slots."""

    # Django looks for the only `AppConfig` in `apps.py`, where an app of the host project has also
    # imported this class. With two of them it would silently use neither.
    default = cast(bool, _NotTheBaseClass())
    default_auto_field = "django.db.models.BigAutoField"
    # The files whose classes with a `path` are routes, and a URLconf for other views.
    views: str | tuple[str, ...] = ()
    urls: str | None = None
    # What the module records. If it is installed, `authservice.kernel.actions` lists them too.
    actions: Mapping[str, Action] = {}
    # Kinds of messages that a user waits for although no request limit counts them: they are no
    # notices, see `Message.is_notice`.
    awaited_messages: Collection[str] = ()
    # Dotted paths of functions that `authservice_doctor` runs, see `kernel/checks.py`.
    examinations: Collection[str] = ()

    login_policy: str | None = None
    second_factor: str | None = None
    session_data: str | None = None
    account_access: str | None = None
    foreign_tokens: str | None = None
    request_guard: str | None = None
    event_listener: str | None = None
    messenger: str | None = None
    message_builders: str | tuple[str, ...] | None = None
    expired_rows: str | None = None
    support: str | tuple[str, ...] | None = None
    link_pages: str | None = None
    account_section: str | tuple[str, ...] | None = None

    def import_models(self) -> None:
        # Not a system check: models and checks of most modules import those of core, so Django
        # would stop before any check.
        if not apps.is_installed(CORE):
            raise ImproperlyConfigured(
                f"{self.name!r} requires {CORE!r}, which is not in INSTALLED_APPS. Add it before"
                " the other modules of authservice."
            )
        super().import_models()
        declare(self.actions)
        # Imported now, so that `errors.catalogue` is complete from the start.
        if module_has_submodule(self.module, "errors"):
            import_module(f"{self.name}.errors")


def installed() -> Iterator[ModuleConfig]:
    """The installed modules, and the default login module if no login module is installed."""
    for config in apps.get_app_configs():
        if isinstance(config, ModuleConfig):
            yield config
    if not has_login_module():
        yield default_login_module()


def known_actions() -> Mapping[str, Action]:
    """The actions that can be recorded, and those of the modules of this package that are not
    installed: the log still has the entries of a module that was removed."""
    return {**_shipped_actions(), **ACTIONS}


@cache
def _shipped_actions() -> dict[str, Action]:
    # The files `apps.py` import no models, so importing them installs nothing.
    actions: dict[str, Action] = {}
    for path in sorted(_PACKAGE.rglob("apps.py")):
        file = import_module(
            ".".join(("authservice", *path.relative_to(_PACKAGE).parts[:-1], "apps"))
        )
        for config in vars(file).values():
            if isinstance(config, type) and issubclass(config, ModuleConfig):
                actions.update(config.actions)
    return actions


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
            paths = getattr(config, slot) or ()
            for path in (paths,) if isinstance(paths, str) else paths:
                yield config, slot, path


def overfilled_slots() -> Iterator[tuple[str, list[str]]]:
    """Each slot that takes one filler and has several, with their names in the order of
    `INSTALLED_APPS`: the last one counts. Two login modules are the error `authservice.E010`."""
    for slot in SINGLE:
        fillers = [(config.name, path) for config, name, path in slots_filled() if name == slot]
        if len(fillers) > 1 and {name for name, _ in fillers} != set(LOGIN_MODULES):
            yield slot, [f"{name} ({path!r})" for name, path in fillers]


def misfit(slot: str, filler: Any) -> str:
    """Why the object cannot fill the slot, for a sentence that begins with its name; "" if it
    can."""
    if slot in FUNCTIONS:
        return "" if callable(filler) else "is not a function"
    if getattr(filler, "slot", "") != slot or not isinstance(filler, Slot):
        return f"is not an instance of a subclass of the base class of {slot}"
    base = next(parent for parent in type(filler).__mro__ if Slot in parent.__bases__)
    unknown = set(dir(type(filler))) - set(dir(base))
    names = ", ".join(sorted(name for name in unknown if not name.startswith("_")))
    return f"has {names}, which {base.__name__} does not have" if names else ""


@overload
def plugs(slot: type[Filler], /) -> tuple[Filler, ...]: ...
@overload
def plugs(slot: str, /) -> tuple[Any, ...]: ...
@settings.cached_for_host
def plugs(slot: type[Slot] | str, /) -> tuple[Any, ...]:
    """The fillers of a slot from all installed modules, by its base class or its name. Raises
    `KeyError` for an unknown name."""
    name = slot if isinstance(slot, str) else slot.slot
    if name not in SLOTS:
        raise KeyError(name)
    if name in _swapped:
        return _swapped[name]
    return tuple(import_string(path) for _, filled, path in slots_filled() if filled == name)


@settings.cached_for_host
def plug(slot: type[Filler], /) -> Filler | None:
    """The one filler of a slot of `SINGLE`: the last one in `INSTALLED_APPS`, or None."""
    return next(reversed(plugs(slot)), None)


@contextmanager
def plugged(slot: str, filler: Any) -> Iterator[None]:
    """Within this context, `filler` is the only filler of the slot; for tests."""
    outer = _swapped.get(slot)
    _swapped[slot] = (filler,)
    _forget_fillers()
    try:
        yield
    finally:
        if outer is None:
            del _swapped[slot]
        else:
            _swapped[slot] = outer
        _forget_fillers()


def _forget_fillers() -> None:
    for find in cast(tuple[Any, ...], (plugs, plug)):
        find.cache_clear()


@settings.cached_for_host
def awaited_messages() -> frozenset[str]:
    """The kinds of messages that the installed modules declare in `awaited_messages`."""
    return frozenset(kind for config in installed() for kind in config.awaited_messages)
