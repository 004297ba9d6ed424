"""Shapes that cross the line between HTTP, core and modules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from authservice.kernel.events import Event
    from authservice.kernel.messages import Message


@dataclass(frozen=True, kw_only=True)
class Client:
    """Who is on the other end of a request, as far as rules may know.

    `address` is the client's IP address or "", `network` what flood limits count (an IPv6 address
    counts as its /64). `http` is the request itself, carried for foreign authentication backends
    and Django's own signals: rules never look inside.
    """

    address: str = ""
    network: str = ""
    user_agent: str = ""
    request_id: str = ""
    device_token: str = ""
    language: str = ""
    http: Any = None


@dataclass(frozen=True)
class Challenge:
    """A step that stands between a proof and the tokens."""

    type: str
    data: Mapping[str, Any] = field(default_factory=dict)


class Identify(Protocol):
    """Slot `identify`: who a bearer token speaks for. Raises `InvalidToken` or `TokenExpired`."""

    def __call__(self, token: str) -> Any: ...


class LoginGate(Protocol):
    """Slot `login_gate`: a further proof to ask for, or None when the given `proofs` suffice."""

    def __call__(self, person: Any, proofs: tuple[str, ...]) -> Challenge | None: ...


class Claims(Protocol):
    """Slot `claims`: further claims of an access token, for a person and what a sign-in wants."""

    def __call__(self, person: Any, sign_in: Any) -> Mapping[str, Any]: ...


class LoginExtras(Protocol):
    """Slot `login_extras`: what `data.data` of a login answer carries."""

    def __call__(self, person: Any) -> Mapping[str, Any]: ...


class Listener(Protocol):
    """Slot `listener`: keeps an event, in the deed's transaction; if it raises, the deed fails."""

    def __call__(self, event: Event) -> None: ...


class Messenger(Protocol):
    """Slot `messenger`: takes a job to be looked up, minted and sent by a worker."""

    can_sms: bool

    def send(self, message: Message) -> None: ...


class RequestGuard(Protocol):
    """Slot `request_guard`: raises a `Fault` for a request that must not go on."""

    def __call__(self, request: Any) -> None: ...
