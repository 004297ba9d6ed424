"""System checks of the session module: the cache of its store."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, Tags, register

from authservice.kernel.checks import declare, message
from authservice.kernel.settings import complaints
from authservice.session.conf import conf

declare(
    {
        "authservice.E161": (
            "SESSION.CACHE is not in CACHES, so every request that uses a session fails.",
            "Use an alias of CACHES.",
        ),
        "authservice.W163": (
            "SESSION.CACHE is a cache that processes do not share: a session that one process"
            " revokes is not in the cache of the others.",
            "Use a cache that all processes share, such as Redis, or set SESSION.STORE to"
            " 'database'.",
        ),
    }
)

_UNSHARED = ("DummyCache", "LocMemCache")


def connect() -> None:
    register(check_sessions, "authservice")
    register(check_production, Tags.security, deploy=True)


def check_sessions(**_: Any) -> list[CheckMessage]:
    if not _readable() or conf.store != "cache" or conf.cache in settings.CACHES:
        return []
    return [message("authservice.E161", f"SESSION.CACHE {conf.cache!r} is not in CACHES.")]


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
