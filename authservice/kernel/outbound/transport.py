"""One exchange with one address: connect, send, read, within a total time and size. Texts of errors
name the host at most: paths and queries of webhooks may contain keys.

Built on the connections of urllib3, below its pools, redirects and proxies: a connection takes an
address to connect to and, apart from it, the host name for TLS.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Timer

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError

from authservice.kernel import settings
from authservice.kernel.outbound import TimedOut, TooLarge, Unreachable
from authservice.kernel.secret import Secret
from authservice.kernel.sections import outbound as conf

# Values stay wrapped until they are sent, so that no error report shows tokens.
Headers = Mapping[str, str | Secret]


@dataclass(frozen=True, kw_only=True)
class Target:
    """Where a request goes: `target` is the path with the query (RFC 9112 section 3.2)."""

    secure: bool
    host: str
    port: int
    target: str

    @property
    def authority(self) -> str:
        """The header `Host`: with the port if that is not the standard one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        standard = self.port == (443 if self.secure else 80)
        return host if standard else f"{host}:{self.port}"


class Deadline:
    """The end of a request's time."""

    def __init__(self, seconds: float) -> None:
        self._ends = time.monotonic() + seconds

    def remaining_seconds(self) -> float:
        """The seconds until the deadline. Raises `TimedOut` if there are none."""
        seconds = self._ends - time.monotonic()
        if seconds <= 0:
            raise TimedOut("The time of the request is over.")
        return seconds


@dataclass(frozen=True, kw_only=True)
class Received:
    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


def exchange(
    to: Target,
    addresses: list[str],
    method: str,
    headers: Headers,
    body: Secret | None,
    *,
    deadline: Deadline,
) -> Received:
    """Send a request to the first of `addresses` that accepts a connection."""
    connection = _connected(to, addresses, deadline)
    try:
        late = _Late(connection, deadline.remaining_seconds())
    except TimedOut:
        connection.close()
        raise
    try:
        received = _converse(connection, to.target, method, headers, body)
        late.check()
        return received
    except (HTTPError, OSError, ValueError) as error:
        late.check()
        raise _failure(to, error) from None
    except Exception as error:
        # Exceptions of http.client, such as a line that is too long, have no class in common.
        late.check()
        if isinstance(error, TooLarge):
            raise
        raise _failure(to, error) from None
    finally:
        late.cancel()
        connection.close()


class _Late:
    """Ends a connection when its time is over. Timeouts of sockets apply to each read, so a server
    that sends a byte now and then would never exceed them."""

    def __init__(self, connection: HTTPConnection, seconds: float) -> None:
        self._over = False
        # Kept here: `http.client` sets the attribute to None after the headers of a response after
        # which the server closes the connection.
        self._socket = connection.sock
        self._timer = Timer(seconds, self._end)
        self._timer.daemon = True
        self._timer.start()

    def check(self) -> None:
        if self._over:
            raise TimedOut("The time of the request is over.") from None

    def cancel(self) -> None:
        self._timer.cancel()

    def _end(self) -> None:
        self._over = True
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)


def revealed(value: str | Secret) -> str:
    return value.reveal() if isinstance(value, Secret) else value


class _Https(HTTPSConnection):
    """A connection whose TLS handshake ends with the time of the request: the timeout of a socket
    begins again after the TCP connection."""

    deadline: Deadline

    def _new_conn(self) -> socket.socket:
        opened = super()._new_conn()
        try:
            opened.settimeout(self.deadline.remaining_seconds())
        except TimedOut:
            opened.close()
            raise
        return opened


def _connected(to: Target, addresses: list[str], deadline: Deadline) -> HTTPConnection:
    last_error: Exception | None = None
    try:
        context = _tls(conf.ca_file) if to.secure else None
    except OSError as error:  # `ssl.SSLError` is one: the file is gone or no PEM
        raise Unreachable(f"OUTBOUND.CA_FILE cannot be read: {type(error).__name__}") from None
    for address in addresses:
        if to.secure:
            secure = _Https(
                address,
                to.port,
                timeout=deadline.remaining_seconds(),
                server_hostname=to.host,
                cert_reqs="CERT_REQUIRED",
                ssl_context=context,
            )
            secure.deadline = deadline
            connection: HTTPConnection = secure
        else:
            connection = HTTPConnection(address, to.port, timeout=deadline.remaining_seconds())
        try:
            connection.connect()
        except (HTTPError, OSError) as error:
            connection.close()
            last_error = error
        else:
            return connection
    # Raises `TimedOut` if the time is over: then that is the reason to report.
    deadline.remaining_seconds()
    raise _failure(to, last_error) from None


def _converse(
    connection: HTTPConnection, target: str, method: str, headers: Headers, body: Secret | None
) -> Received:
    connection.request(
        method,
        target,
        body.reveal().encode() if body else None,
        {name: revealed(value) for name, value in headers.items()},
        preload_content=False,
        decode_content=False,
    )
    response = connection.getresponse()
    try:
        # No body is decompressed: a small one could become a large one. The read that returns
        # nothing raises if the body is shorter than its declared length.
        content = b""
        while part := response.read(conf.max_bytes + 1 - len(content), decode_content=False):
            content += part
            if len(content) > conf.max_bytes:
                raise TooLarge("The response is too large.")
        names = {name.lower(): value for name, value in response.headers.items()}
        return Received(status=response.status, headers=names, body=content)
    finally:
        response.close()


@settings.cached
def _tls(ca_file: str) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if ca_file:
        context.load_verify_locations(cafile=ca_file)
    return context


def _failure(to: Target, error: BaseException | None) -> Unreachable | TimedOut:
    if isinstance(error, TimeoutError):
        return TimedOut(f"{to.host} did not answer in time.")
    return Unreachable(f"{to.host} cannot be reached: {type(error).__name__}")
