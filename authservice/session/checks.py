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
    return [*_limits(), *_store(), *_idle_words()] if _readable() else []


def check_production(**_: Any) -> list[checks.CheckMessage]:
    if not _readable() or conf.store != "cache":
        return []
    backend = settings.CACHES.get(conf.cache, {}).get("BACKEND", "")
    if backend.rpartition(".")[2] not in _UNSHARED:
        return []
    return [
        checks.Warning(
            f"Ended sessions are named in {backend}, which each process has for itself.",
            hint="Use a cache that the processes share, such as Redis, or the store 'database'.",
            id="authservice.W163",
        )
    ]


def _readable() -> bool:
    # Core's own check says what is wrong with keys and types; until then nothing can be read.
    return apps.is_installed("authservice.session") and not list(complaints())


def _limits() -> Iterator[checks.CheckMessage]:
    if conf.idle_ttl < timedelta(0):
        yield _error("E160", "SESSION.IDLE_TTL must not be negative.", "Leave it out.")
    if conf.max_per_user < 0:
        yield _error("E160", "SESSION.MAX_PER_USER must not be negative.", "0 means any number.")


def _store() -> Iterator[checks.CheckMessage]:
    if conf.store == "cache" and conf.cache not in settings.CACHES:
        yield _error("E161", "SESSION.CACHE is none of CACHES.", "Give the alias of a cache.")
    if conf.store in ("database", "cache"):
        return
    try:
        found = import_string(conf.store)
    except ImportError as error:
        hint = "Give 'database', 'cache' or the dotted path of a class."
        yield _error("E162", f"SESSION.STORE cannot be imported: {error}.", hint)
        return
    missing = [name for name in _METHODS if not callable(getattr(found, name, None))]
    if missing:
        hint = "authservice.kernel.interfaces.SessionStore says what each method promises."
        yield _error("E162", f"SESSION.STORE lacks {', '.join(missing)}.", hint)


def _idle_words() -> Iterator[checks.CheckMessage]:
    if stateless.check != "full":
        yield checks.Warning(
            "STATELESS.CHECK has no meaning beside the session module.",
            hint="Leave it out: a session is looked at for each request.",
            id="authservice.W164",
        )


def _error(id_: str, text: str, hint: str) -> checks.CheckMessage:
    return checks.Error(f"AUTHSERVICE: {text}", hint=hint, id=f"authservice.{id_}")
