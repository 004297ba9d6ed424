"""System checks that matter only in production: run by `manage.py check --deploy`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Tags, register
from django.http.request import split_domain_port, validate_host

from authservice.core.conf import core
from authservice.kernel import settings as kernel_settings
from authservice.kernel import throttling
from authservice.kernel.checks import declare, message
from authservice.kernel.origins import is_loopback, parts_of
from authservice.kernel.sections import outbound, root

declare(
    {
        "authservice.I043": (
            "CORE.REQUIRE_RECENT_PROOF is off: a stolen access token is enough to change the phone"
            " number or to set up a second factor.",
            "Turn it on if your clients can send the password with these requests.",
        ),
        "authservice.W045": (
            "An address of a front end has no https: an attacker on the network can change its"
            " pages, and read tokens.",
            "Serve the front end over https, and use its https address.",
        ),
        "authservice.W049": (
            "ALLOWED_HOSTS does not allow the host of API_URL: Django answers each request to it"
            " with 400.",
            "Add the host of API_URL to ALLOWED_HOSTS. If a proxy sends another Host header, which"
            " ALLOWED_HOSTS allows, add 'authservice.W049' to SILENCED_SYSTEM_CHECKS.",
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
declare(
    {
        "authservice.W061": (
            "A database opens a new connection for each request, which makes every request slower.",
            "Set CONN_MAX_AGE, or a connection pool in OPTIONS, in DATABASES.",
        ),
    },
    area="database",
)
declare(
    {
        "authservice.W060": (
            "Rate limits count in a cache that is separate in each process, or that deletes"
            " counters which are still needed. An attacker gets more requests than the limits"
            " allow.",
            "Set THROTTLE.CACHE to a cache that all processes share, such as Redis.",
        ),
        "authservice.W062": (
            "A Redis that does not answer delays a request by 5 seconds or more.",
            "Set socket_timeout and socket_connect_timeout to 0.5 in the OPTIONS of the cache.",
        ),
    },
    area="cache",
)
declare(
    {
        "authservice.W042": (
            "AUTHSERVICE['TRUSTED_PROXIES'] is 0, but TLS seems to end at a proxy: all its clients"
            " share the rate limits of one address, so one of them can stop every login.",
            "Set it to the number of proxies that append to X-Forwarded-For or to a list of their"
            " networks, or to None if clients connect to this server directly.",
        ),
        "authservice.W046": (
            "The settings about proxies contradict each other, or name a header that no request"
            " has: the service takes the proxy for the client, or https for http.",
            "Set SECURE_PROXY_SSL_HEADER to ('HTTP_X_FORWARDED_PROTO', 'https') if TLS ends at a"
            " proxy, and TRUSTED_PROXIES to the number of proxies.",
        ),
        "authservice.W237": (
            "SECURE_SSL_REDIRECT is on behind a proxy, and SECURE_PROXY_SSL_HEADER is not set: if"
            " TLS ends at the proxy, every request is redirected again.",
            "Set SECURE_PROXY_SSL_HEADER to ('HTTP_X_FORWARDED_PROTO', 'https') if the proxy sets"
            " that header. If the proxy connects by https, add 'authservice.W237' to"
            " SILENCED_SYSTEM_CHECKS.",
        ),
    },
    area="proxies",
)
declare(
    {
        "authservice.W047": (
            "The domain of a cookie does not contain the host of API_URL: browsers do not store the"
            " cookie, so no login of Django admin or of the pages lasts.",
            "Remove SESSION_COOKIE_DOMAIN and CSRF_COOKIE_DOMAIN, or set them to a domain that"
            " contains the host, such as '.example.com' for 'https://api.example.com'.",
        ),
    },
    area="cookies",
)
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
        "authservice.W044": (
            "An address of the API, of a front end or of an identity provider is 'localhost' or a"
            " loopback address: in the browser of a user this is their own machine.",
            "Set it to the public https address, and remove origins and providers that only"
            " development needs.",
        ),
        "authservice.W048": (
            "The first entry of PASSWORD_HASHERS is a fast hash: an attacker who gets a copy of the"
            " database tries billions of passwords in a second.",
            "Put 'authservice.hashers.Argon2id' first, or Django's PBKDF2PasswordHasher. Passwords"
            " are hashed again when their owners sign in.",
        ),
    },
    grave=True,
)

# Settings with addresses that browsers open, or send as an origin: their names in `AUTHSERVICE`.
_OF_BROWSERS = (
    *("API_URL", "FRONTEND.URL", "MAGICLINK.CALLBACK_URL", "PAGES.HOME_URL"),
    *("OAUTH.DEFAULT_REDIRECT_URL", "OAUTH.ERROR_REDIRECT_URL", "OAUTH.RETURN_URLS"),
    "CSRF.TRUSTED_ORIGINS",
)
# Settings of Django and of django-cors-headers with such addresses.
_OF_THE_PROJECT = ("CSRF_TRUSTED_ORIGINS", "CORS_ALLOWED_ORIGINS")
_FAST_HASHERS = ("MD5", "SHA1", "Unsalted", "Crypt")
_OF_ONE_PROCESS = ("DummyCache", "LocMemCache")
_CULLED = ("DatabaseCache", "FileBasedCache")
_ENOUGH_ENTRIES = 10_000  # counters that a cache keeps
_LONGEST_TIMEOUT = 1  # seconds


def connect() -> None:
    register(check_production, Tags.security, deploy=True)


def check_production(**_: Any) -> list[CheckMessage]:
    # Core's own check reports wrong keys and types; until they are fixed the settings cannot be
    # read.
    if list(kernel_settings.complaints()):
        return []
    return [*_addresses(), *_proxies(), *_protections(), *_servers()]


def _addresses() -> Iterator[CheckMessage]:
    """The origin of the service, and addresses for development that were left in the settings."""
    api = parts_of(root.api_url)
    if not root.api_url:
        yield message("authservice.W031")
    elif api.scheme == "http" and not is_loopback(api.hostname):
        yield message(
            "authservice.W041",
            f"AUTHSERVICE['API_URL'] is {root.api_url!r}: over http, passwords and tokens are sent"
            " unencrypted.",
        )
    yield from _allowed_hosts(api.netloc)
    configured = getattr(settings, kernel_settings.SETTING, {})
    urls: dict[str, Any] = {}
    for name in _OF_BROWSERS:
        section, _, key = name.rpartition(".")
        urls[name] = (configured.get(section, {}) if section else configured).get(key, ())
    urls |= {name: getattr(settings, name, ()) for name in _OF_THE_PROJECT}
    addresses = [
        (name, url)
        for name, value in urls.items()
        for url in ([value] if isinstance(value, str) else value)
    ]
    for name, url in addresses:
        parts = parts_of(str(url))
        if is_loopback(parts.hostname):
            yield message(
                "authservice.W044",
                f"{name} has {url!r}: in the browser of a user this is their own machine.",
            )
        # API_URL has W041, and the trusted origins have W134 in 'authservice.csrf'.
        elif parts.scheme == "http" and name not in ("API_URL", "CSRF.TRUSTED_ORIGINS"):
            yield message(
                "authservice.W045",
                f"{name} has {url!r}: an attacker on the network can change its pages, and read"
                " tokens.",
            )


def _allowed_hosts(netloc: str) -> Iterator[CheckMessage]:
    """Whether Django accepts requests to this host and port, which are those of API_URL."""
    host, _ = split_domain_port(netloc)  # as Django reads the header Host
    # With DEBUG, Django allows localhost. An empty list has security.W020, a loopback W044.
    if settings.DEBUG or not settings.ALLOWED_HOSTS or not host or is_loopback(host.strip("[]")):
        return
    if not validate_host(host, settings.ALLOWED_HOSTS):
        yield message(
            "authservice.W049",
            f"ALLOWED_HOSTS does not allow {host!r}, the host of API_URL: Django answers each"
            " request to it with 400.",
            hint=f"Add {host!r} to ALLOWED_HOSTS. If a proxy sends another Host header, which"
            " ALLOWED_HOSTS allows, add 'authservice.W049' to SILENCED_SYSTEM_CHECKS.",
        )


def _proxies() -> Iterator[CheckMessage]:
    """The settings about proxies, and the domain of cookies, which must contain the host that
    browsers connect to."""
    header = settings.SECURE_PROXY_SSL_HEADER
    api = parts_of(root.api_url)
    is_behind_proxy = header or api.scheme == "https"
    if is_behind_proxy and root.trusted_proxies is not None and not root.trusted_proxies:
        yield message("authservice.W042")
    if header and not header[0].startswith("HTTP_"):
        yield _contradiction(
            f"SECURE_PROXY_SSL_HEADER names {header[0]!r}, as no header of a request is called in"
            " Django: each request counts as http."
        )
    elif header and root.trusted_proxies is None:
        yield _contradiction(
            "SECURE_PROXY_SSL_HEADER says that TLS ends at a proxy, and TRUSTED_PROXIES is None,"
            " which says that there is none: any client may claim https, or all share one limit."
        )
    if settings.SECURE_SSL_REDIRECT and root.trusted_proxies and not header:
        yield message("authservice.W237")
    if settings.USE_X_FORWARDED_HOST and "*" in settings.ALLOWED_HOSTS:
        yield _contradiction(
            "USE_X_FORWARDED_HOST trusts the host that a header names, and ALLOWED_HOSTS allows"
            " every host: a client chooses the host of links that Django builds."
        )
    host = api.hostname
    for name in ("SESSION_COOKIE_DOMAIN", "CSRF_COOKIE_DOMAIN"):
        domain = (getattr(settings, name) or "").lstrip(".").lower()
        if host and domain and host != domain and not host.endswith(f".{domain}"):
            text = f"{name} is {domain!r}, which does not contain {host!r}, the host of API_URL:"
            yield message("authservice.W047", f"{text} browsers do not store the cookie.")


def _contradiction(text: str) -> CheckMessage:
    return message("authservice.W046", text)


def _protections() -> Iterator[CheckMessage]:
    """Protections that are off or weak."""
    first = settings.PASSWORD_HASHERS[0] if settings.PASSWORD_HASHERS else ""
    if first.rpartition(".")[2].startswith(_FAST_HASHERS):
        text = (
            f"The first entry of PASSWORD_HASHERS is {first!r}, a fast hash: an attacker who gets"
        )
        yield message(
            "authservice.W048",
            f"{text} a copy of the database tries billions of passwords in a second.",
        )
    if not core.require_recent_proof:
        yield message("authservice.I043")
    if not throttling.conf.enabled:
        yield message("authservice.W233")
    if not core.wipe_unproven:
        yield message("authservice.W234")


def _servers() -> Iterator[CheckMessage]:
    """What the service connects to: databases, other hosts, and the cache of the rate limits."""
    for alias, database in settings.DATABASES.items():
        pooled = (database.get("OPTIONS") or {}).get("pool")
        networked = "sqlite" not in database.get("ENGINE", "")
        if networked and not database.get("CONN_MAX_AGE", 0) and not pooled:
            text = f"Database {alias!r} opens a new connection for each request."
            yield message("authservice.W061", text)
    unencrypted = [name for name in outbound.insecure_hosts if not is_loopback(name)]
    if unencrypted:
        names = ", ".join(map(repr, unencrypted))
        text = (
            f"OUTBOUND.INSECURE_HOSTS allows plain http to {names}: secrets are sent unencrypted."
        )
        yield message("authservice.W117", text)
    if not throttling.conf.enabled:
        return  # the cache of the limits is not used, so the checks below do not apply
    entry: dict[str, Any] = settings.CACHES.get(throttling.conf.cache, {})
    backend, options = entry.get("BACKEND", ""), entry.get("OPTIONS", {})
    kind = backend.rpartition(".")[2]
    if kind in _OF_ONE_PROCESS:
        yield _cache_warning(f"Rate limits count in {backend}, which is separate in each process.")
    elif kind in _CULLED and options.get("MAX_ENTRIES", 0) < _ENOUGH_ENTRIES:
        yield _cache_warning(
            f"Rate limits count in {backend}, which deletes counters that are still needed once it"
            f" has {options.get('MAX_ENTRIES', 300)} entries."  # 300 is Django's default
        )
    elif kind == "RedisCache" and not 0 < (options.get("socket_timeout") or 0) <= _LONGEST_TIMEOUT:
        yield message(
            "authservice.W062",
            hint="Set socket_timeout and socket_connect_timeout to 0.5 in the OPTIONS of the cache"
            f" {throttling.conf.cache!r}.",
        )


def _cache_warning(text: str) -> CheckMessage:
    return message("authservice.W060", text)
