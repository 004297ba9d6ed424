"""Whether a password is in a list of breached ones, without sending it to the list's server.

The server gets the first five characters of the SHA-1 and answers with all endings that it knows
(k-anonymity, the protocol of Have I Been Pwned). It pads the answer, so that its length reveals
nothing to a listener on the network either.

A server that is slow or away delays one request by 0.8 s. Then the circuit is open: for a minute
the server is not asked, and no password is refused. After that minute one request tries again.
"""

from __future__ import annotations

import hashlib
import logging
import re
from datetime import timedelta
from threading import Lock
from time import monotonic

from authservice.kernel import events, settings
from authservice.kernel.client import Client
from authservice.kernel.outbound import http_client
from authservice.kernel.outbound.errors import Busy, InsideTransaction, OutboundError

logger = logging.getLogger("authservice.accounts")

TIMEOUT = timedelta(milliseconds=800)
PAUSE = 60.0  # seconds
_SENT = 5  # hexadecimal characters
_SERVICE = "the list of breached passwords"
_HEADERS = {"Accept": "text/plain", "Add-Padding": "true"}
_ANSWER = re.compile(rb"(?:[0-9A-F]{35}:[0-9]+(?:\r?\n|\Z))+")


def is_breached(password: str, url: str) -> bool | None:
    """Whether the list has the password; None if its server cannot be asked now. `url` is what the
    five characters are appended to. Takes at most 0.8 s."""
    encoded = password.encode("utf-8", "surrogatepass")
    digest = hashlib.sha1(encoded, usedforsecurity=False).hexdigest().upper()
    start, ending = digest[:_SENT], digest[_SENT:]
    circuit = _circuit(url)
    if not circuit.may_ask():
        return None
    try:
        answer = http_client.send(
            "GET", f"{url}{start}", service=_SERVICE, headers=_HEADERS, timeout=TIMEOUT
        )
        answer.raise_for_status()
        endings = answer.body.upper()
        # An empty or other answer must not count as "not breached" silently.
        if not _ANSWER.fullmatch(endings):
            raise NotARange("The response is no list of breached passwords.")
    except InsideTransaction:
        # A form of the project or of Django admin: its locks must not wait for another server.
        circuit.give_back()
        return None
    except Busy:
        circuit.give_back()  # the server is not at fault
        return None
    except (OutboundError, OSError) as error:  # also a file of certificates that cannot be read
        if circuit.open():
            reason = type(error).__name__
            logger.warning("Passwords are not compared with breached ones: %s", reason)
            action = "security.breach_check.unavailable"
            # No member of staff did this: the log has the service itself as the actor.
            events.record_by_staff(action, None, None, Client(), reason=reason)
        return None
    circuit.close()
    entry = re.search(rb"^%b:([0-9]+)" % ending.encode(), endings, re.MULTILINE)
    # Entries with the count 0 are padding.
    return entry is not None and bool(entry[1].strip(b"0"))


class NotARange(OutboundError):
    """The body is no list of endings."""


class _Circuit:
    """Closed while the server answers; open for a minute after each failure."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._failing = False
        self._open_until = 0.0

    def may_ask(self) -> bool:
        """Whether a request may be sent now. After a minute one request tries; for all others the
        circuit stays open until that one succeeds."""
        with self._lock:
            if not self._failing:
                return True
            now = monotonic()
            if now < self._open_until:
                return False
            self._open_until = now + PAUSE
            return True

    def open(self) -> bool:
        """Record a failed request; returns whether it is the first failure in a row."""
        with self._lock:
            first = not self._failing
            self._failing = True
            self._open_until = monotonic() + PAUSE
            return first

    def give_back(self) -> None:
        """Nothing was sent, so the next request may try."""
        with self._lock:
            if self._failing:
                self._open_until = 0.0

    def close(self) -> None:
        """Record a request that succeeded."""
        with self._lock:
            recovered = self._failing
            self._failing = False
        if recovered:
            logger.info("%s is available again.", _SERVICE.capitalize())


@settings.cached
def _circuit(url: str) -> _Circuit:
    return _Circuit()
