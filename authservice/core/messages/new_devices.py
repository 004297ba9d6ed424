"""Which logins from a new device the owner of an account is notified of.

A client that sends no device token, such as a script or a browser without cookies, is new at each
login. If its browser and network are those of a recent session, the owner is not notified: a mail
at each login would only teach owners to ignore such mails.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from authservice.core.messages import browsers
from authservice.core.models import Session
from authservice.core.sessions import sessions
from authservice.core.users.person import Person

RECENT = timedelta(days=30)
SHOWN = 20
_READ = 1000  # sessions of one account, at most
# "limit" is the reason of sessions that the session module ended because there were too many.
# Sessions that ended in any other way, such as by a reset, may have been an attacker's.
_TRUSTED_ENDS = (sessions.LOGOUT, "limit", "")


class _Place(NamedTuple):
    """The network and the browser of a client; for an unknown browser, the header itself."""

    network: str
    browser: str


def is_familiar(person: Person, details: Mapping[str, Any]) -> bool:
    """Whether a recent session began earlier with the same browser in the same network.

    `details` are those of `message_queue.describe_client`.
    """
    place = _place(details.get("user_agent", ""), details.get("ip_address", ""))
    at = details.get("at")
    if not place.network or not at:
        return False
    before = datetime.fromisoformat(at)
    earlier = _sessions(person, after=before - RECENT, until=before)
    return any(place == _place_of(row) for row in earlier if _is_trusted(row))


def unfamiliar(person: Person, since: datetime, until: datetime) -> list[Session]:
    """The sessions that began in that time on a new device with an unfamiliar browser or network,
    the oldest first."""
    devices, places, found = set(), set(), []
    for row in _sessions(person, after=since - RECENT, until=until):
        place = _place_of(row)
        if row.created_at >= since and row.device_id not in devices and place not in places:
            found.append(row)
        devices.add(row.device_id)
        if place.network and _is_trusted(row):
            places.add(place)
    return found


def _sessions(person: Person, *, after: datetime, until: datetime) -> Iterator[Session]:
    """Sessions that began in that time, the oldest first; only the newest if there are very
    many."""
    rows = Session.objects.filter(user=person.user.pk, created_at__gte=after, created_at__lt=until)
    fields = ("user_agent", "ip_address", "device_id", "created_at", "ended_at", "end_reason")
    return reversed(rows.only(*fields).order_by("-created_at")[:_READ])


def _is_trusted(row: Session) -> bool:
    return row.ended_at is None or row.end_reason in _TRUSTED_ENDS


def _place_of(row: Session) -> _Place:
    return _place(row.user_agent, row.ip_address)


def _place(user_agent: str, address: str) -> _Place:
    browser = browsers.parse(user_agent)
    return _Place(_network(address), "|".join(browser) if browser.name else user_agent)


def _network(address: str) -> str:
    """The network as limits count it: an IPv6 address counts as its /64."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return ""
    bits = 32 if parsed.version == 4 else 64
    return str(ipaddress.ip_network((address, bits), strict=False))
