"""System checks that matter only in production: run by `manage.py check --deploy`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core import checks

from authservice.core.conf import core
from authservice.kernel import settings as kernel_settings
from authservice.kernel import throttling
from authservice.kernel.sections import root

_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_OF_ONE_PROCESS = ("DummyCache", "LocMemCache")
_CULLED = ("DatabaseCache", "FileBasedCache")
_ENTRIES = 10_000
_SECONDS = 1


def connect() -> None:
    checks.register(check_production, checks.Tags.security, deploy=True)


def check_production(**_: Any) -> list[checks.CheckMessage]:
    # Core's own check reports wrong keys and types; until they are fixed the settings cannot be
    # read.
    if list(kernel_settings.complaints()):
        return []
    found = [*_origin(), *_proxies(), *_recent_proof(), *_connections()]
    return [*found, *_cache()] if throttling.conf.enabled else found


def _origin() -> Iterator[checks.CheckMessage]:
    parts = urlsplit(root.api_url)
    if not root.api_url:
        yield checks.Warning(
            "AUTHSERVICE['API_URL'] is not set: e-mails cannot contain links.",
            hint="Set it to the public origin, such as 'https://api.example.com'.",
            id="authservice.W031",
        )
    elif parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        yield checks.Warning(
            f"AUTHSERVICE['API_URL'] is {root.api_url!r}: over http, passwords and tokens are sent"
            " unencrypted.",
            hint="Serve the API over https, and set API_URL to the https address.",
            id="authservice.W041",
        )


def _proxies() -> Iterator[checks.CheckMessage]:
    behind = settings.SECURE_PROXY_SSL_HEADER or urlsplit(root.api_url).scheme == "https"
    if behind and root.trusted_proxies == 0:
        yield checks.Warning(
            "AUTHSERVICE['TRUSTED_PROXIES'] is 0, and TLS seems to end at a proxy: all its clients"
            " share the rate limits of one address, so one of them can stop every login.",
            hint="Set it to the number of proxies that append to X-Forwarded-For, or to None if"
            " clients connect to this server directly.",
            id="authservice.W042",
        )


def _recent_proof() -> Iterator[checks.CheckMessage]:
    if not core.require_recent_proof:
        yield checks.Info(
            "CORE.REQUIRE_RECENT_PROOF is off: a stolen access token is enough to change the"
            " phone number or to set up a second factor.",
            hint="Turn it on if your clients can send `password` with these requests.",
            id="authservice.I043",
        )


def _cache() -> Iterator[checks.CheckMessage]:
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
        yield checks.Warning(
            "A Redis that does not answer delays a request by 5 seconds or more.",
            hint="Set socket_timeout and socket_connect_timeout to 0.5 in the OPTIONS of the cache"
            f" {throttling.conf.cache!r}.",
            id="authservice.W062",
        )


def _cache_warning(text: str) -> checks.CheckMessage:
    hint = "Use a cache that all processes share, such as Redis."
    return checks.Warning(text, hint=hint, id="authservice.W060")


def _connections() -> Iterator[checks.CheckMessage]:
    for alias, database in settings.DATABASES.items():
        pooled = (database.get("OPTIONS") or {}).get("pool")
        networked = "sqlite" not in database.get("ENGINE", "")
        if networked and not database.get("CONN_MAX_AGE", 0) and not pooled:
            yield checks.Warning(
                f"Database {alias!r} opens a new connection for each request.",
                hint="Set CONN_MAX_AGE or a connection pool.",
                id="authservice.W061",
            )
