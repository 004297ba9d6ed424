"""What a request brings: its body, a JSON object of at most 64 KiB, or empty (some routes also
accept a form), and what it says about its client: address (also behind proxies that the project
trusts, see `TRUSTED_PROXIES`), user agent, request id, device, the origin of the page that sends
the request, and the spelling of the path.

A page cannot forge `Origin` or `Sec-Fetch-Site` (the Fetch standard forbids scripts to set them).
Browsers send `Sec-Fetch-*` only by https and to localhost.
"""

from __future__ import annotations

import ipaddress
import json
import logging
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

from django.core.exceptions import DisallowedHost, RequestDataTooBig
from django.http import HttpRequest, QueryDict, RawPostDataException, UnreadablePostError

from authservice.kernel import errors, languages, settings, throttling
from authservice.kernel.client import Client
from authservice.kernel.http import envelope
from authservice.kernel.interfaces import RequestGuard
from authservice.kernel.languages import Phrase, phrase
from authservice.kernel.modules import plugs
from authservice.kernel.origins import normal
from authservice.kernel.secret import Secret
from authservice.kernel.sections import UNIX, Network, mount, root, trusted_network

BODY_LIMIT = 64 * 1024
# Levels of arrays and objects. RFC 8259 section 9 lets a parser set a limit.
MAX_DEPTH = 100
# Of a body that is too long, at most this many bytes are read.
_MAX_DISCARDED = 16 * 1024 * 1024
_CHUNK = 64 * 1024
FORM = "application/x-www-form-urlencoded"
_NO_LENGTH = phrase("A request with a body must have a Content-Length header.")
_ENCODED = phrase("A body with a Content-Encoding is not accepted. Send it without compression.")
_NO_FORM = phrase(
    "The body must be sent as application/json or application/x-www-form-urlencoded, in UTF-8."
)


def read_body(request: HttpRequest, refusal: Phrase | None = None) -> dict[str, Any]:
    """The body as a dict. An empty body is an empty dict and needs no content type. `refusal`
    replaces the message of `UnsupportedMediaType`."""
    raw = _octets(request)
    if not raw:
        return {}
    _require_json(request, refusal)
    try:
        parsed = read_json(raw.decode())
    except ValueError as error:
        raise errors.InvalidJSON from error
    if not isinstance(parsed, dict):
        raise errors.InvalidRequestBody
    return parsed


def read_form(request: HttpRequest) -> dict[str, Any]:
    """The body of a route that an HTML page submits to: form fields, or JSON as elsewhere."""
    if request.content_type != FORM:
        # Not `multipart/form-data` either: it can have files, and these routes take none.
        return read_body(request, _NO_FORM)
    return QueryDict(_octets(request), encoding="utf-8").dict()


def read_json(text: str) -> Any:
    """The value of a JSON text (RFC 8259). Raises `ValueError` for any other text, NaN and Infinity
    included, and for arrays and objects in more than `MAX_DEPTH` levels.

    How deep Python's own parser reads depends on its release and on the stack of the thread: some
    thousand levels, or tens of thousands since 3.14. What is not refused here would exhaust the
    stack of code that walks through the value, or of a service that reads it later.
    """
    try:
        value = json.loads(text, parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    level: list[Any] = [[value]]
    for _ in range(MAX_DEPTH + 1):
        values = (outer.values() if isinstance(outer, dict) else outer for outer in level)
        level = [inner for some in values for inner in some if isinstance(inner, (dict, list))]
        if not level:
            return value
    raise ValueError("nested too deeply")


def receive_body(request: HttpRequest) -> None:
    """Read the body into memory without validating it; `read_body` raises the errors later. Only
    `RequestTooLarge` is raised here, for a body in chunks: its length is not known before."""
    with suppress(OSError, ValueError, RequestDataTooBig, RawPostDataException):
        if body_length(request) <= BODY_LIMIT:
            _ = request.body or _in_chunks(request)


def body_length(request: HttpRequest) -> int:
    """What the header `Content-Length` says, in bytes; 0 without one. Raises `ValueError` if
    it is not a number."""
    return int(request.META.get("CONTENT_LENGTH") or 0)


def _octets(request: HttpRequest) -> bytes:
    """The body, after the checks of its length and encoding. Raises a `Fault`."""
    try:
        if body_length(request) > BODY_LIMIT:
            _discard(request)
            raise errors.RequestTooLarge
        raw = request.body or _in_chunks(request)
    except RequestDataTooBig as error:
        raise errors.RequestTooLarge from error
    except RawPostDataException as error:
        # A middleware of the host project has read form fields, which consumes a multipart body.
        _require_json(request)
        raise errors.InvalidRequestBody from error
    except (UnreadablePostError, ValueError) as error:
        raise errors.InvalidRequestBody from error
    if len(raw) > BODY_LIMIT:
        raise errors.RequestTooLarge
    if not raw and _is_chunked(request) and not _body_ends(request):
        raise errors.InvalidRequestBody(_NO_LENGTH)
    encoding = request.META.get("HTTP_CONTENT_ENCODING", "").strip().lower()
    if raw and encoding not in ("", "identity"):
        # RFC 9110 section 15.5.16: the header says what would be accepted.
        raise errors.UnsupportedMediaType(_ENCODED, headers={"Accept-Encoding": "identity"})
    return raw


def _in_chunks(request: HttpRequest) -> bytes:
    """A body in chunks, which the request keeps, or nothing. Raises `RequestTooLarge` if it is
    longer than `BODY_LIMIT`.

    Django reads as many octets as Content-Length says. It reads none of a body in chunks, which has
    no Content-Length: in WSGI such a body has no defined end, unless the server says that its
    stream ends (`_body_ends`).
    """
    if not _is_chunked(request) or not _body_ends(request):
        return b""
    stream = request.META["wsgi.input"]
    parts = []
    size = 0
    while size <= BODY_LIMIT and (part := stream.read(BODY_LIMIT + 1 - size)):
        parts.append(part)
        size += len(part)
    raw = b"".join(parts)
    if size > BODY_LIMIT:
        _discard(stream)
        raise errors.RequestTooLarge
    # Django keeps the body here, for a hook or a middleware of the project that reads it later.
    request._body = raw
    return raw


def _is_chunked(request: HttpRequest) -> bool:
    return "HTTP_TRANSFER_ENCODING" in request.META and not request.META.get("CONTENT_LENGTH")


def _body_ends(request: HttpRequest) -> bool:
    """Whether the stream of a WSGI server ends with the body, as that of gunicorn does."""
    return bool(request.META.get("wsgi.input_terminated"))


def _require_json(request: HttpRequest, refusal: Phrase | None = None) -> None:
    charset = (request.content_params or {}).get("charset", "utf-8").lower().replace("-", "")
    if request.content_type != "application/json" or charset != "utf8":
        raise errors.UnsupportedMediaType(refusal)


def _discard(stream: Any) -> None:
    # A server that closes a connection with unread bytes resets it, and the client would not get
    # the error response. So the rest of the body is read, up to a limit, and discarded.
    for _ in range(_MAX_DISCARDED // _CHUNK):
        if not stream.read(_CHUNK):
            return


def _refuse(constant: str) -> None:
    raise ValueError(constant)  # NaN and Infinity are not JSON (RFC 8259 section 6)


logger = logging.getLogger("authservice.request")

# The name of the request attribute with the challenge of a permission that asks for another proof.
CHALLENGE = "_authservice_challenge"
DEVICE_COOKIE = "authservice_device"
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
_MAX_AGENT = 512  # characters; longer ones are cut
_MAX_DEVICE_TOKEN = 1024  # characters; longer ones are ignored
_OF_DEVICES = 2  # times the limit of a network, for all its clients with a device token together
# Not written as a negated set: compiling its table of 65,536 characters takes 10 ms.
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\U00010000-\U0010ffff]")
_MAX_ADDRESS = 64  # characters
# Some proxies also write the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`.
_PORT = re.compile(r"^(?:\[)?((?<=\[)[0-9A-Fa-f:.]+(?=\])|[0-9.]+)(?:\])?(?::\d+)?$")
# Headers in which proxies forward the client's address.
_FORWARDED = {"HTTP_X_FORWARDED_FOR": "X-Forwarded-For", "HTTP_FORWARDED": "Forwarded"}
# Values of `REMOTE_ADDR` for the peer of a Unix socket, which has no address.
_NAMELESS = ("", "unix:")
# Headers in which browsers say that they load a page in advance.
_PURPOSES = ("HTTP_SEC_PURPOSE", "HTTP_PURPOSE", "HTTP_X_PURPOSE", "HTTP_X_MOZ")
_reported = False


def request_id(request: HttpRequest) -> str:
    header = request.META.get("HTTP_X_REQUEST_ID", "")
    return header if _REQUEST_ID.fullmatch(header) else os.urandom(16).hex()


def client(request: HttpRequest, request_id: str) -> Client:
    meta = request.META  # `request.headers` would parse every header of the request
    address, network = address_of(meta)
    agent = meta.get("HTTP_USER_AGENT", "")[:_MAX_AGENT]
    # Nearly all are printable ASCII, which takes less time to see than a search for the others.
    agent = agent if agent.isascii() and agent.isprintable() else _UNPRINTABLE.sub("", agent)
    token = meta.get("HTTP_X_DEVICE_TOKEN") or envelope.get_cookie(request, DEVICE_COOKIE)
    return Client(
        address=address,
        network=network,
        user_agent=agent,
        request_id=request_id,
        device_token=Secret(token if len(token) <= _MAX_DEVICE_TOKEN else ""),
        language=languages.requested(request),
        http=request,
    )


def of_page(request: HttpRequest) -> Client:
    """The client of a request to a page outside the API, such as one of Django admin."""
    return client(request, request_id(request))


def count_request(client: Client) -> None:
    """Count a request against the general flood limit. Raises `TooManyRequests`.

    The request is counted for the network or, with a valid device token, for the account of the
    token, so that other clients behind the same address cannot use up the limit of the account.

    The network is part of the account's key: a former user of the account still has a valid token,
    since the token is checked without the database, and must not use up the limit of the owner. The
    device is not part of the key: each login issues a token for a new device, so an attacker who
    logs in to their own account repeatedly would get a new limit each time. An attacker with many
    accounts gets three times the limit of the network: twice with tokens, and once without.
    """
    if client.device is None:
        throttling.count("default", client.network)
        return
    throttling.count("default", f"account {client.device.user} {client.network}")
    try:
        throttling.count("default", f"devices {client.network}", times=_OF_DEVICES)
    except errors.TooManyRequests:
        # Beyond the limit of devices, the client has the limit of clients without a token.
        throttling.count("default", client.network)


def address_of(meta: Mapping[str, Any]) -> tuple[str, str]:
    """The client's IP address, as the trusted proxies report it, and the key of the flood limits:
    the same IPv4 address, or the /64 of an IPv6 address. Both are "" if the address is unknown.
    `meta` is `META` of a request.

    Each proxy appends the address of its peer to the header, so entries are read from the right.
    A client can forge only the entries to the left of those that the proxies append.
    """
    address: str = meta.get("REMOTE_ADDR") or ""
    proxies = root.trusted_proxies
    # 0 and `None` both trust no proxy; `None` states that there is none, so nothing is reported.
    if not proxies:
        if proxies is not None and not (_reported or _FORWARDED.keys().isdisjoint(meta.keys())):
            _report_proxy(meta)
        return _place(address)
    # Cut, because `_place` caches its argument; no valid address is longer.
    hops = [hop.strip()[:_MAX_ADDRESS] for hop in meta.get("HTTP_X_FORWARDED_FOR", "").split(",")]
    if isinstance(proxies, int):
        return _place(hops[-proxies] if len(hops) >= proxies and hops[-proxies] else address)
    # The last address of the chain that is no trusted proxy, as `203.0.113.9` in the chain
    # `forged, 203.0.113.9, 10.0.0.2` with the peer `10.0.0.1` and the network `10.0.0.0/8`.
    for hop in reversed(hops):
        # An entry that is no address was sent by the proxy before it, the last address we know.
        if not _is_proxy(address) or not _place(hop)[0]:
            break
        address = hop
    return _place(address)


@lru_cache(maxsize=1024)
def _is_proxy(text: str) -> bool:
    proxies = root.trusted_proxies
    entries: tuple[str, ...] = proxies if isinstance(proxies, tuple) else ()
    address = _place(text)[0]
    if not address:
        # The server of a Unix socket knows no address of its peer.
        return text in _NAMELESS and UNIX in entries
    return any(ipaddress.ip_address(address) in network for network in _networks(entries))


@settings.cached
def _networks(listed: tuple[str, ...]) -> tuple[Network, ...]:
    return tuple(trusted_network(text) for text in listed if text != UNIX)


def _report_proxy(meta: Mapping[str, Any]) -> None:
    """Log once per process if a request seems to come through a proxy that is not configured."""
    global _reported
    for name, header in _FORWARDED.items():
        if meta.get(name):
            _reported = True
            logger.warning(
                "A request has the header %s, but AUTHSERVICE['TRUSTED_PROXIES'] is 0: all clients"
                " behind a proxy share the rate limits of one address. Set it to the number of"
                " proxies in front of the server or to a list of their networks, or to None if"
                " there is no proxy.",
                header,
            )
            return


@settings.on_change
def _forget() -> None:
    global _reported
    _reported = False
    _is_proxy.cache_clear()


@lru_cache(maxsize=1024)
def _place(text: str) -> tuple[str, str]:
    """The address and the key of the flood limits, as `address_of` returns them."""
    try:
        address = ipaddress.ip_address(_PORT.sub(r"\1", text))
    except ValueError:
        return "", ""
    if isinstance(address, ipaddress.IPv4Address):
        return str(address), str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped), str(address.ipv4_mapped)
    plain = ipaddress.IPv6Address(address.packed)  # without a scope id
    return str(plain), str(ipaddress.IPv6Network((plain, 64), strict=False))


def is_own(origin: str, request: HttpRequest) -> bool:
    """Whether `origin` is that of `API_URL`, or the one that the request was sent to."""
    own = {normal(root.api_url), normal(target_origin(request))}
    return bool(origin) and origin in own


def is_trusted(origin: str, request: HttpRequest) -> bool:
    """Whether `origin` is our own, or one that a request guard trusts."""
    return is_own(origin, request) or any(guard.trusts(origin) for guard in plugs(RequestGuard))


def target_origin(request: HttpRequest) -> str:
    """Scheme and host that the request was sent to; "" if the host is not allowed."""
    with suppress(DisallowedHost):
        return f"{request.scheme}://{request.get_host()}"
    return ""


def is_escaped(request: HttpRequest) -> bool:
    """Whether the path below the mount, as the client sent it, has a percent sign.

    No route needs one, and rules of a proxy for a path would not apply to another spelling of it,
    such as `/logi%6e`. Servers decode the path before Django gets it. Servers that do not pass on
    the original path, such as `runserver`, stand behind no proxy.
    """
    scope = getattr(request, "scope", None)
    if scope is not None:
        sent = (scope.get("raw_path") or b"").decode("latin-1")
    else:
        # Gunicorn sets the first one; uWSGI, mod_wsgi and waitress set the second one.
        sent = request.META.get("RAW_URI") or request.META.get("REQUEST_URI") or ""
    sent = sent.partition("?")[0]
    if "%" not in sent and "%" not in request.path:
        return False
    below = request.path.removeprefix(unquote(mount()))
    # Of the sent path, only as many segments as `below` has: a proxy may have changed the path
    # before them, and the mount itself may need escapes.
    return "%" in below or "%" in "".join(sent.split("/")[-below.count("/") - 1 :])


def is_prefetch(request: HttpRequest) -> bool:
    """Whether a browser requests the page before its user has followed the link."""
    purposes = [request.META.get(name, "").lower() for name in _PURPOSES]
    return any(word in text for text in purposes for word in ("prefetch", "prerender", "preview"))


def is_navigation(request: HttpRequest) -> bool:
    """Whether the browser opens the address as a page, rather than as an image or for a script.
    True for clients that send no `Sec-Fetch-Mode`."""
    return bool(request.META.get("HTTP_SEC_FETCH_MODE", "navigate") == "navigate")


def opened_by_browser(request: HttpRequest) -> bool:
    """Like `is_navigation`, but false for clients that send no `Sec-Fetch-Mode`, such as programs:
    these read JSON."""
    return bool(request.META.get("HTTP_SEC_FETCH_MODE") == "navigate")


def embedded(request: HttpRequest) -> bool:
    """Whether a page embeds the link (for example as an image) and cannot read the response."""
    return bool(request.META.get("HTTP_SEC_FETCH_MODE") == "no-cors")
