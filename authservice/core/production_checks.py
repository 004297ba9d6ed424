"""System checks that matter only in production: run by `manage.py check --deploy`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Tags, register

from authservice.core.conf import core
from authservice.kernel import settings as kernel_settings
from authservice.kernel import throttling
from authservice.kernel.checks import declare, message
from authservice.kernel.origins import is_loopback, parts_of
from authservice.kernel.sections import outbound, root

declare(
    {
        "authservice.W031": (
            "AUTHSERVICE['API_URL'] is not set: e-mails cannot contain links.",
            "Set it to the public origin of the service, such as 'https://api.example.com'.",
        ),
        "authservice.W041": (
            "AUTHSERVICE['API_URL'] is an http URL: passwords and tokens are sent unencrypted.",
            "Serve the API over https, and set API_URL to the https address.",
        ),
        "authservice.W042": (
            "AUTHSERVICE['TRUSTED_PROXIES'] is 0, but TLS seems to end at a proxy: all its clients"
            " share the rate limits of one address, so one of them can stop every login.",
            "Set it to the number of proxies that append to X-Forwarded-For or to a list of their"
            " networks, or to None if clients connect to this server directly.",
        ),
        "authservice.I043": (
            "CORE.REQUIRE_RECENT_PROOF is off: a stolen access token is enough to change the phone"
            " number or to set up a second factor.",
            "Turn it on if your clients can send the password with these requests.",
        ),
        "authservice.W044": (
            "An address of the API, of a front end or of an identity provider is 'localhost' or a"
            " loopback address: in the browser of a user this is their own machine.",
            "Set it to the public https address, and remove origins and providers that only"
            " development needs.",
        ),
        "authservice.W045": (
            "An address of a front end has no https: an attacker on the network can change its"
            " pages, and read tokens.",
            "Serve the front end over https, and use its https address.",
        ),
        "authservice.W060": (
            "Rate limits count in a cache that is separate in each process, or that deletes"
            " counters which are still needed. An attacker gets more requests than the limits"
            " allow.",
            "Set THROTTLE.CACHE to a cache that all processes share, such as Redis.",
        ),
        "authservice.W061": (
            "A database opens a new connection for each request, which makes every request slower.",
            "Set CONN_MAX_AGE, or a connection pool in OPTIONS, in DATABASES.",
        ),
        "authservice.W062": (
            "A Redis that does not answer delays a request by 5 seconds or more.",
            "Set socket_timeout and socket_connect_timeout to 0.5 in the OPTIONS of the cache.",
        ),
        "authservice.W117": (
            "OUTBOUND.INSECURE_HOSTS allows plain http: client secrets, codes and messages are"
            " sent unencrypted.",
            "Serve these hosts by https, and remove them from OUTBOUND.INSECURE_HOSTS.",
        ),
        "authservice.W233": (
            "THROTTLE.ENABLED is False: nothing limits how many accounts, e-mails and text"
            " messages a client causes. The limits on wrong passwords and codes stay.",
            "Remove it in production. Limits that are too low are changed in THROTTLE.RATES.",
        ),
        "authservice.W234": (
            "CORE.WIPE_UNPROVEN is False: an attacker who signed up with the address of another"
            " person keeps access to the account after that person proves the address.",
            "Remove it, unless your project verifies addresses in another way before sign-up.",
        ),
    }
)

# Settings whose addresses browsers open or send, by their names in `AUTHSERVICE`.
_OF_BROWSERS = (
    *("API_URL", "FRONTEND.URL", "MAGICLINK.CALLBACK_URL", "PAGES.HOME_URL"),
    *("OAUTH.DEFAULT_REDIRECT_URL", "OAUTH.ERROR_REDIRECT_URL", "OAUTH.RETURN_URLS"),
    "CSRF.TRUSTED_ORIGINS",
)
# The same of Django and of django-cors-headers.
_OF_THE_PROJECT = ("CSRF_TRUSTED_ORIGINS", "CORS_ALLOWED_ORIGINS")
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
    found = [*_origin(), *_addresses(), *_proxies()]
    found += [*_protections(), *_connections(), *_outbound()]
    return [*found, *_cache()] if throttling.conf.enabled else found


def _origin() -> Iterator[CheckMessage]:
    parts = parts_of(root.api_url)
    if not root.api_url:
        yield message("authservice.W031")
    elif parts.scheme == "http" and not is_loopback(parts.hostname):
        yield message(
            "authservice.W041",
            f"AUTHSERVICE['API_URL'] is {root.api_url!r}: over http, passwords and tokens are sent"
            " unencrypted.",
        )


def _addresses() -> Iterator[CheckMessage]:
    """Addresses for development that were left in the settings."""
    given = getattr(settings, kernel_settings.SETTING, {})
    urls = {name: _lookup(given, name) for name in _OF_BROWSERS}
    urls |= {name: getattr(settings, name, ()) for name in _OF_THE_PROJECT}
    for name, value in urls.items():
        for url in [value] if isinstance(value, str) else value:
            parts = parts_of(str(url))
            if is_loopback(parts.hostname):
                yield message(
                    "authservice.W044",
                    f"{name} has {url!r}: in the browser of a user this is their own machine.",
                )
            # Checks of their own look at the others: W041 and W134.
            elif parts.scheme == "http" and name not in ("API_URL", "CSRF.TRUSTED_ORIGINS"):
                yield message(
                    "authservice.W045",
                    f"{name} has {url!r}: an attacker on the network can change its pages, and read"
                    " tokens.",
                )


def _lookup(given: Any, name: str) -> Any:
    section, _, key = name.rpartition(".")
    return (given.get(section, {}) if section else given).get(key, ())


def _proxies() -> Iterator[CheckMessage]:
    behind = settings.SECURE_PROXY_SSL_HEADER or parts_of(root.api_url).scheme == "https"
    if behind and root.trusted_proxies is not None and not root.trusted_proxies:
        yield message("authservice.W042")


def _outbound() -> Iterator[CheckMessage]:
    unencrypted = [name for name in outbound.insecure_hosts if not is_loopback(name)]
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
