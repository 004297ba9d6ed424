"""System checks of this module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, Tags, register
from django.utils.module_loading import import_string

from authservice.kernel.checks import message
from authservice.kernel.settings import complaints
from authservice.session.conf import conf

_METHODS = ("begin", "alive", "touch", "end", "live_for")
_UNSHARED = ("DummyCache", "LocMemCache")


def connect() -> None:
    register(check_sessions, "authservice")
    register(check_production, Tags.security, deploy=True)


def check_sessions(**_: Any) -> list[CheckMessage]:
    return [*_limits(), *_store()] if _readable() else []


def check_production(**_: Any) -> list[CheckMessage]:
    if not _readable() or conf.store != "cache":
        return []
    backend = settings.CACHES.get(conf.cache, {}).get("BACKEND", "")
    if backend.rpartition(".")[2] not in _UNSHARED:
        return []
    return [
        message(
            "authservice.W163",
            f"SESSION.CACHE uses {backend}, which processes do not share: a session that one"
            " process revokes is not in the cache of the others.",
        )
    ]


def _readable() -> bool:
    # Core's own check reports wrong keys and types; until they are fixed, no setting can be read.
    return apps.is_installed("authservice.session") and not list(complaints())


def _limits() -> Iterator[CheckMessage]:
    for name in ("idle_ttl", "max_per_user"):
        value = getattr(conf, name)
        if value < type(value)(0):
            text = f"SESSION.{name.upper()} must not be negative, but is {value}."
            yield message("authservice.E160", text)


def _store() -> Iterator[CheckMessage]:
    if conf.store == "cache" and conf.cache not in settings.CACHES:
        yield message("authservice.E161", f"SESSION.CACHE {conf.cache!r} is not in CACHES.")
    if conf.store in ("database", "cache"):
        return
    try:
        store_class = import_string(conf.store)
    except ImportError as error:
        text = f"SESSION.STORE is {conf.store!r}, which cannot be imported: {error}"
        yield message("authservice.E162", text)
        return
    missing = [name for name in _METHODS if not callable(getattr(store_class, name, None))]
    if missing:
        text = f"SESSION.STORE is {conf.store!r}, which lacks the methods {', '.join(missing)}."
        yield message("authservice.E162", text)
