"""Send a request to another service.

`service` names the receiver of a request, such as a provider. The number of requests in flight is
limited for each service. There are no redirects, no cookies, no retries, and nothing is read from
the environment (proxies, `.netrc`).
"""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from threading import BoundedSemaphore
from typing import Any
from urllib.parse import quote_plus, urlencode

from django.db import connections
from urllib3.exceptions import LocationParseError
from urllib3.util import parse_url

from authservice.kernel import databases, measures, settings
from authservice.kernel.outbound import (
    BadStatus,
    Busy,
    InsideTransaction,
    NotJSON,
    OutboundError,
    Refused,
    addresses,
)
from authservice.kernel.outbound.transport import Deadline, Headers, Target, exchange, revealed
from authservice.kernel.secret import Secret
from authservice.kernel.sections import outbound as conf

logger = logging.getLogger("authservice.outbound")

_COMMON = {
    "Accept": "application/json",
    "Accept-Encoding": "identity",
    "User-Agent": "authservice",
}
Form = Mapping[str, str | Secret]


@dataclass(frozen=True, kw_only=True)
class Response:
    """What the other side answered; names of `headers` are lower-case."""

    status: int
    headers: Mapping[str, str]
    # Responses contain tokens, which no error report may show.
    body: bytes = field(repr=False)

    def raise_for_status(self) -> None:
        """Raises `BadStatus` unless the status is 2xx."""
        if not 200 <= self.status < 300:
            raise BadStatus(self.status)

    def json(self) -> Any:
        """The body as JSON. Raises `NotJSON`."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            raise NotJSON("The response is not JSON.") from None


@dataclass(frozen=True, kw_only=True)
class Basic:
    """Credentials of HTTP Basic authentication, encoded as RFC 6749 section 2.3.1 says."""

    client_id: str
    client_secret: Secret


def get(url: str, *, service: str, bearer: Secret | None = None) -> Response:
    """GET `url`, with a bearer token if there is one. Raises `OutboundError`."""
    headers = {"Authorization": Secret(f"Bearer {bearer.reveal()}")} if bearer else {}
    return send("GET", url, service=service, headers=headers)


def post_form(url: str, form: Form, *, service: str, basic: Basic | None = None) -> Response:
    """POST a form to `url`. Raises `OutboundError`."""
    headers: Headers = {"Content-Type": "application/x-www-form-urlencoded"}
    if basic:
        pair = Secret(f"{quote_plus(basic.client_id)}:{quote_plus(basic.client_secret.reveal())}")
        encoded = Secret(base64.b64encode(pair.reveal().encode()).decode())
        headers = {**headers, "Authorization": Secret(f"Basic {encoded.reveal()}")}
    body = Secret(urlencode([(name, revealed(value)) for name, value in form.items()]))
    return send("POST", url, service=service, headers=headers, body=body)


def post_json(
    url: str, content: Any, *, service: str, timeout: timedelta | None = None
) -> Response:
    """POST `content` as JSON to `url`. Raises `OutboundError`."""
    body = Secret(json.dumps(content))
    headers = {"Content-Type": "application/json"}
    return send("POST", url, service=service, headers=headers, body=body, timeout=timeout)


def send(
    method: str,
    url: str,
    *,
    service: str,
    headers: Headers,
    body: Secret | None = None,
    timeout: timedelta | None = None,
) -> Response:
    """Send any request. Raises `OutboundError`."""
    if any(map(databases.is_transaction_open, connections.all(initialized_only=True))):
        raise InsideTransaction("Requests must not be sent inside a transaction.")
    with measures.outbound_call(service) as call:
        try:
            target = target_of(url)
            with _slot(service):
                deadline = Deadline((timeout or conf.timeout).total_seconds())
                resolved = addresses.resolve(
                    target.host, target.port, timeout=deadline.remaining_seconds()
                )
                headers = {"Host": target.authority, **_COMMON, **headers}
                received = exchange(target, resolved, method, headers, body, deadline=deadline)
        except OutboundError as error:
            call.outcome = type(error).__name__
            logger.warning("A request to %s failed: %s", service, error)
            raise
        call.outcome = f"{received.status // 100}xx"
    return Response(status=received.status, headers=received.headers, body=received.body)


def target_of(url: str) -> Target:
    """The parts of a URL. Raises `Refused` if the URL is neither https nor http to a host that
    `OUTBOUND.INSECURE_HOSTS` names, or if it has user info."""
    try:
        parts = parse_url(url)
    except LocationParseError:
        raise Refused("The URL is invalid.") from None
    if parts.scheme not in ("https", "http") or not parts.host or parts.auth is not None:
        raise Refused("The URL is not an http or https URL.")
    host = parts.host.strip("[]")
    secure = parts.scheme == "https"
    if not secure and not addresses.is_listed(host, conf.insecure_hosts):
        raise Refused(f"OUTBOUND.INSECURE_HOSTS does not allow http to {host}.")
    port = parts.port or (443 if secure else 80)
    return Target(secure=secure, host=host, port=port, target=parts.request_uri)


@contextmanager
def _slot(service: str) -> Iterator[None]:
    slots = _slots(service)
    # Without waiting: requests that wait occupy workers as well as requests in flight do.
    if not slots.acquire(blocking=False):
        raise Busy(f"Too many requests to {service} are in flight.")
    try:
        yield
    finally:
        slots.release()


@settings.cached
def _slots(service: str) -> BoundedSemaphore:
    return BoundedSemaphore(conf.in_flight)
