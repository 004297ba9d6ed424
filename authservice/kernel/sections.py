"""The settings directly in `AUTHSERVICE`, the sections that belong to no module, and where the
service is reached: its path, scheme and name."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any, Literal

from django.conf import settings as django_settings
from django.urls import reverse

from authservice.kernel import settings
from authservice.kernel.origins import parts_of
from authservice.kernel.rules import (
    CertificateFile,
    CookieName,
    LocalPath,
    NotNegative,
    Positive,
    Rule,
    WebAddress,
    between,
)

UNIX = "unix"
"""The entry of `TRUSTED_PROXIES` for a proxy that connects to a Unix socket."""
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
# IPv4 networks in their IPv6 form (RFC 4291 section 2.5.5.2).
_MAPPED = ipaddress.IPv6Network("::ffff:0:0/96")


def trusted_network(text: str) -> Network:
    """An entry of `TRUSTED_PROXIES`: an address, or a network such as `10.0.0.0/8`. An IPv4 network
    in its IPv6 form is returned as IPv4, as addresses are. Raises ValueError."""
    network = ipaddress.ip_network(text)
    if not network.prefixlen:
        raise ValueError(f"{text!r} contains every address")
    if isinstance(network, ipaddress.IPv6Network) and network.subnet_of(_MAPPED):
        mapped = network.network_address.ipv4_mapped
        return ipaddress.IPv4Network((str(mapped), network.prefixlen - 96))
    return network


_Proxy = Annotated[
    str,
    Rule(
        f"an IP address, a network or {UNIX!r}", lambda text: text == UNIX or trusted_network(text)
    ),
]
_GRACE = between(timedelta(0), timedelta(seconds=60), "0 to 60 seconds")


@dataclass(frozen=True, kw_only=True)
class Root:
    """Keys directly in `AUTHSERVICE`."""

    api_url: WebAddress = ""
    """Public origin of the service with any script prefix, such as `https://api.example.com`."""
    trusted_proxies: NotNegative[int] | tuple[_Proxy, ...] | None = 0
    """Number of proxies in front of the server that append to `X-Forwarded-For`, or a list of their
    addresses and networks, such as `["10.0.0.0/8", "2001:db8::7"]`, with `"unix"` for a proxy that
    connects to a Unix socket. With a list, the client is the last address in the chain that is not
    in it. With 0 or `None` only `REMOTE_ADDR` is trusted; `None` states that there is no proxy and
    silences the warnings about proxies."""
    access_token_ttl: Positive[timedelta] = timedelta(minutes=15)
    """Lifetime of an access token."""
    refresh_token_ttl: Positive[timedelta] = timedelta(days=7)
    """How long a refresh token stays valid without being used."""
    session_ttl: Positive[timedelta] = timedelta(days=30)
    """Maximum lifetime of a session, however often its tokens are refreshed."""
    refresh_token_rotation: bool = True
    """Whether a refresh issues a new refresh token and invalidates the one that was used."""
    reuse_leeway: NotNegative[timedelta] = timedelta(seconds=10)
    """How long a reused refresh token counts as a second tab or a retry instead of theft, if it is
    the direct predecessor of the current one."""
    refresh_grace: Annotated[timedelta, _GRACE] = timedelta(0)
    """How long such a reuse returns the same successor token instead of an error; at most 60 s."""
    signing_keys: tuple[Any, ...] = ()
    """Signing keys: dicts of `alg` (`"EdDSA"`, `"Ed25519"`, `"ES256"` or `"RS256"`), `state`
    (`"next"`, `"active"` or `"retired"`) and `private_key`, or `public_key` for a retired one. If
    empty, tokens are signed with HS256 and a key that is derived from `SECRET_KEY`."""
    issuer: str = ""
    """`iss` of access tokens; if empty, `API_URL`, or `authservice` if that is empty too."""
    audience: str = "authservice"
    """`aud` of access tokens."""
    prepared_statements: Literal["auto", "always", "never"] = "auto"
    """Whether PostgreSQL prepares the statements of the service. `"auto"`: on connections that are
    kept (`CONN_MAX_AGE` or a pool) and lead to the server itself. `"always"`: also behind a pooler
    that tracks prepared statements. `"never"`: on no connection."""


@dataclass(frozen=True, kw_only=True)
class API:
    """`AUTHSERVICE["API"]`."""

    error_details: bool = False
    """Whether a validation error also lists all invalid fields in `data.details`."""


@dataclass(frozen=True, kw_only=True)
class Frontend:
    """`AUTHSERVICE["FRONTEND"]`."""

    url: WebAddress = ""
    """Origin of the front end, for the links in e-mails."""
    verify_email_callback_path: LocalPath = ""
    """Path below `URL` that `GET /verify-email` redirects to."""
    reset_password_path: LocalPath = "/reset-password"  # noqa: S105 a path, not a password
    """Path below `URL` of the page that resets a password, for the links in e-mails."""
    invitation_path: LocalPath = "/invitations/accept"
    """Path below `URL` of the page that accepts an invitation to the service."""
    org_invitation_path: LocalPath = "/org/invitations/accept"
    """Path below `URL` of the page that accepts an invitation to an organization."""


@dataclass(frozen=True, kw_only=True)
class Cookies:
    """`AUTHSERVICE["COOKIES"]`: tokens in cookies, for a front end on the same site as the API."""

    enabled: bool = False
    """Whether tokens are also set as `HttpOnly` cookies; requires the csrf module."""
    access_name: CookieName = "authservice_access"
    """Name of the access token's cookie; over HTTPS it gets the prefix `__Host-`."""
    refresh_name: CookieName = "authservice_refresh"
    """Name of the refresh token's cookie; over HTTPS it gets the prefix `__Host-`."""
    samesite: Literal["Lax", "Strict", "None"] = "Lax"
    """`SameSite` of both; `"None"`, for a front end on another site, requires HTTPS."""


@dataclass(frozen=True, kw_only=True)
class Outbound:
    """`AUTHSERVICE["OUTBOUND"]`: requests that the service sends, to providers and to webhooks."""

    timeout: Positive[timedelta] = timedelta(seconds=10)
    """Total time of one request, from the DNS lookup to the last byte of the response."""
    max_bytes: Positive[int] = 1024 * 1024
    """Maximum size of a response body in bytes."""
    in_flight: Positive[int] = 4
    """How many requests may be in flight per process to one provider. Further ones fail at once, so
    that a provider that does not answer cannot occupy all workers."""
    private_hosts: tuple[str, ...] = ()
    """Host names that may have private or loopback addresses, such as `["sso.internal"]`."""
    insecure_hosts: tuple[str, ...] = ()
    """Host names that may be reached by plain http, such as `["localhost"]`."""
    ca_file: CertificateFile = ""
    """File of certificates of further certificate authorities (PEM), beside those of the system."""


root = settings.section("", Root)
api = settings.section("API", API)
frontend = settings.section("FRONTEND", Frontend)
cookies = settings.section("COOKIES", Cookies)
outbound = settings.section("OUTBOUND", Outbound)


def mount() -> str:
    """The path below which our routes are, with the script prefix and a slash at its end.

    If the project includes the URLs twice, it is the path that `reverse("authservice:me")` uses:
    that of the include without a namespace of its own, or of the last one if each has one. Below
    `i18n_patterns` it is the path of the active language.
    """
    # The route of unknown paths matches the empty path, so its own path is the mount.
    return reverse("authservice:unknown")


@settings.cached
def secure() -> bool:
    """Whether cookies are `Secure`: true if `API_URL` is an https URL. Without `API_URL` it is true
    unless `DEBUG` is on."""
    if root.api_url:
        return parts_of(root.api_url).scheme == "https"
    return not django_settings.DEBUG


def service_name() -> str:
    """The host name that users know, of the front end or of the service. It is empty if that is
    this machine or an IP address, which names no service."""
    host = parts_of(frontend.url or root.api_url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return ""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return host
    return ""
