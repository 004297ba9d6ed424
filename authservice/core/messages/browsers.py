"""Recognise common browsers and operating systems in a `User-Agent` header.

The client controls the header, so mails never show its text: an attacker could otherwise write to
the owner of an account in the name of the service.
"""

from __future__ import annotations

from typing import NamedTuple

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


def parse(user_agent: str) -> Browser:
    """The browser of a `User-Agent` header."""
    # Every browser's header begins like this (RFC 9110 section 10.1.5); other programs' rarely do.
    if not user_agent.startswith(("Mozilla/5.0 (", "Opera/")):
        return Browser("", "")
    return Browser(_first(_BROWSERS, user_agent), _first(_SYSTEMS, user_agent))


def _first(names: tuple[tuple[str, str], ...], user_agent: str) -> str:
    return next((name for mark, name in names if mark in user_agent), "")
