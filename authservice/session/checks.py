"""System checks of this module."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core import checks
from django.utils.module_loading import import_string

from authservice.core.conf import stateless
from authservice.kernel.settings import complaints
from authservice.session.conf import conf

_METHODS = ("begin", "alive", "touch", "end", "live_for")
_UNSHARED = ("DummyCache", "LocMemCache")


def connect() -> None:
    checks.register(check_sessions, "authservice")
    checks.register(check_production, checks.Tags.security, deploy=True)


def check_sessions(**_: Any) -> list[checks.CheckMessage]:
    return [*_limits(), *_store(), *_unused_settings()] if _readable() else []


def check_production(**_: Any) -> list[checks.CheckMessage]:
    if not _readable() or conf.store != "cache":
        return []
    backend = settings.CACHES.get(conf.cache, {}).get("BACKEND", "")
    if backend.rpartition(".")[2] not in _UNSHARED:
        return []
    return [
        checks.Warning(
            f"SESSION.CACHE uses {backend}, which processes do not share: a session that one"
            " process revokes is not in the cache of the others.",
            hint="Use a cache that all processes share, such as Redis, or set SESSION.STORE to"
            " 'database'.",
            id="authservice.W163",
        )
    ]


def _readable() -> bool:
    # Core's own check reports wrong keys and types; until they are fixed, no setting can be read.
    return apps.is_installed("authservice.session") and not list(complaints())


def _limits() -> Iterator[checks.CheckMessage]:
    if conf.idle_ttl < timedelta(0):
        yield _error("E160", "SESSION.IDLE_TTL must not be negative.", "0 means REFRESH_TOKEN_TTL.")
    if conf.max_per_user < 0:
        yield _error("E160", "SESSION.MAX_PER_USER must not be negative.", "0 means no limit.")


def _store() -> Iterator[checks.CheckMessage]:
    if conf.store == "cache" and conf.cache not in settings.CACHES:
        yield _error(
            "E161", f"SESSION.CACHE {conf.cache!r} is not in CACHES.", "Use an alias of CACHES."
        )
    if conf.store in ("database", "cache"):
        return
    try:
        store_class = import_string(conf.store)
    except ImportError as error:
        hint = "Use 'database', 'cache' or the dotted path of a class."
        yield _error("E162", f"SESSION.STORE cannot be imported: {error}.", hint)
        return
    missing = [name for name in _METHODS if not callable(getattr(store_class, name, None))]
    if missing:
        hint = "See authservice.kernel.interfaces.SessionStore for the methods of a store."
        yield _error("E162", f"SESSION.STORE has no methods {', '.join(missing)}.", hint)


def _unused_settings() -> Iterator[checks.CheckMessage]:
    if stateless.check != "full":
        yield checks.Warning(
            "STATELESS.CHECK has no effect if the session module is installed.",
            hint="Remove the setting: the session module checks the session on every request.",
            id="authservice.W164",
        )


def _error(id_: str, text: str, hint: str) -> checks.CheckMessage:
    return checks.Error(f"AUTHSERVICE: {text}", hint=hint, id=f"authservice.{id_}")
