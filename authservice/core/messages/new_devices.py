"""Logins from new devices: of which of them the owner of an account is notified, and the name of
the browser and the operating system by the header `User-Agent`.

The client controls that header, so mails never show its text: an attacker could otherwise write to
the owner of an account in the name of the service.

A client that sends no device token, such as a script or a browser without cookies, is new at each
login. If the browser and the network of such a login are those of a recent session, the owner is
not notified: a mail at each login would only teach owners to ignore such mails.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from authservice.core.models import Session
from authservice.core.sessions import sessions
from authservice.core.users.person import Person

# The first match counts: a browser also names those that it is based on.
_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Opera", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("YaBrowser/", "Yandex Browser"),
    ("Vivaldi/", "Vivaldi"),
    ("FxiOS/", "Firefox"),
    ("Firefox/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS = (
    ("iPhone", "iOS"),
    ("iPad", "iPadOS"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Macintosh", "macOS"),
    ("Linux", "Linux"),
)


class Browser(NamedTuple):
    """Names such as "Firefox" and "Windows"; "" if unknown."""

    name: str
    system: str


def parse_browser(user_agent: str) -> Browser:
    """The browser of a `User-Agent` header."""
    # Every browser's header begins like this (RFC 9110 section 10.1.5); other programs' rarely do.
    if not user_agent.startswith(("Mozilla/5.0 (", "Opera/")):
        return Browser("", "")
    return Browser(_first_name(_BROWSERS, user_agent), _first_name(_SYSTEMS, user_agent))


def _first_name(names: tuple[tuple[str, str], ...], user_agent: str) -> str:
    return next((name for mark, name in names if mark in user_agent), "")


RECENT = timedelta(days=30)
SHOWN = 20  # sessions that one mail lists
_READ = 1000  # sessions of one account, at most


class _Place(NamedTuple):
    """The network and the browser of a client; for an unknown browser, the header itself."""

    network: str
    browser: str


def is_familiar(person: Person, details: Mapping[str, Any]) -> bool:
    """Whether a recent session began before this login, with the same browser and network.

    `details` describe the client of the login, as `message_queue.describe_client` returns them.
    """
    place = _place(details.get("user_agent", ""), details.get("ip_address", ""))
    at = details.get("at")
    if not place.network or not at:
        return False
    before = datetime.fromisoformat(at)
    earlier = _sessions(person, after=before - RECENT, until=before)
    return any(place == _place_of(row) for row in earlier if _is_trusted(row))


def unfamiliar(person: Person, since: datetime, until: datetime) -> list[Session]:
    """The sessions that began between `since` and `until` on a new device with an unfamiliar
    browser or network, the oldest first."""
    devices, places = set(), set()
    unfamiliar_sessions = []
    for row in _sessions(person, after=since - RECENT, until=until):
        place = _place_of(row)
        if row.created_at >= since and row.device_id not in devices and place not in places:
            unfamiliar_sessions.append(row)
        devices.add(row.device_id)
        if place.network and _is_trusted(row):
            places.add(place)
    return unfamiliar_sessions


def _sessions(person: Person, *, after: datetime, until: datetime) -> Iterator[Session]:
    """Sessions that began from `after` to `until`, the oldest first; only the newest `_READ` if
    there are more."""
    rows = Session.objects.filter(user=person.user.pk, created_at__gte=after, created_at__lt=until)
    fields = ("user_agent", "ip_address", "device_id", "created_at", "ended_at", "end_reason")
    return reversed(rows.only(*fields).order_by("-created_at")[:_READ])


def _is_trusted(row: Session) -> bool:
    return row.ended_at is None or row.end_reason in sessions.TRUSTED_ENDS


def _place_of(row: Session) -> _Place:
    return _place(row.user_agent, row.ip_address)


def _place(user_agent: str, address: str) -> _Place:
    parsed = parse_browser(user_agent)
    browser = "|".join(parsed) if parsed.name else user_agent
    try:
        # As in the rate limits: an IPv6 address counts as its /64 network.
        prefix_length = 32 if ipaddress.ip_address(address).version == 4 else 64
    except ValueError:
        return _Place("", browser)
    return _Place(str(ipaddress.ip_network((address, prefix_length), strict=False)), browser)
