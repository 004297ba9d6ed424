"""System checks that matter only in production: run by `manage.py check --deploy`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Tags, register

from authservice.core.conf import core
from authservice.kernel import settings as kernel_settings
from authservice.kernel import throttling
from authservice.kernel.checks import message
from authservice.kernel.origins import parts_of
from authservice.kernel.sections import outbound, root

_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_OF_ONE_PROCESS = ("DummyCache", "LocMemCache")
_CULLED = ("DatabaseCache", "FileBasedCache")
_ENTRIES = 10_000
_SECONDS = 1


def connect() -> None:
    register(check_production, Tags.security, deploy=True)


def check_production(**_: Any) -> list[CheckMessage]:
    # Core's own check reports wrong keys and types; until they are fixed the settings cannot be
    # read.
    if list(kernel_settings.complaints()):
        return []
    found = [*_origin(), *_proxies(), *_protections(), *_connections(), *_outbound()]
    return [*found, *_cache()] if throttling.conf.enabled else found


def _origin() -> Iterator[CheckMessage]:
    parts = parts_of(root.api_url)
    if not root.api_url:
        yield message("authservice.W031")
    elif parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        yield message(
            "authservice.W041",
            f"AUTHSERVICE['API_URL'] is {root.api_url!r}: over http, passwords and tokens are sent"
            " unencrypted.",
        )


def _proxies() -> Iterator[CheckMessage]:
    behind = settings.SECURE_PROXY_SSL_HEADER or parts_of(root.api_url).scheme == "https"
    if behind and root.trusted_proxies == 0:
        yield message("authservice.W042")


def _outbound() -> Iterator[CheckMessage]:
    unencrypted = [name for name in outbound.insecure_hosts if name not in _LOOPBACK]
    if unencrypted:
        names = ", ".join(map(repr, unencrypted))
        text = (
            f"OUTBOUND.INSECURE_HOSTS allows plain http to {names}: secrets are sent unencrypted."
        )
        yield message("authservice.W117", text)


def _protections() -> Iterator[CheckMessage]:
    if not core.require_recent_proof:
        yield message("authservice.I043")
    if not throttling.conf.enabled:
        yield message("authservice.W233")
    if not core.wipe_unproven:
        yield message("authservice.W234")


def _cache() -> Iterator[CheckMessage]:
    entry: dict[str, Any] = settings.CACHES.get(throttling.conf.cache, {})
    backend, options = entry.get("BACKEND", ""), entry.get("OPTIONS", {})
    kind = backend.rpartition(".")[2]
    if kind in _OF_ONE_PROCESS:
        yield _cache_warning(f"Rate limits count in {backend}, which is separate in each process.")
    elif kind in _CULLED and options.get("MAX_ENTRIES", 0) < _ENTRIES:
        yield _cache_warning(
            f"Rate limits count in {backend}, which deletes counters that are still needed once it"
            f" has {options.get('MAX_ENTRIES', 300)} entries."
        )
    elif kind == "RedisCache" and not 0 < (options.get("socket_timeout") or 0) <= _SECONDS:
        yield message(
            "authservice.W062",
            hint="Set socket_timeout and socket_connect_timeout to 0.5 in the OPTIONS of the cache"
            f" {throttling.conf.cache!r}.",
        )


def _cache_warning(text: str) -> CheckMessage:
    return message("authservice.W060", text)


def _connections() -> Iterator[CheckMessage]:
    for alias, database in settings.DATABASES.items():
        pooled = (database.get("OPTIONS") or {}).get("pool")
        networked = "sqlite" not in database.get("ENGINE", "")
        if networked and not database.get("CONN_MAX_AGE", 0) and not pooled:
            text = f"Database {alias!r} opens a new connection for each request."
            yield message("authservice.W061", text)
