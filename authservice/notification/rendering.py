"""From a letter to its texts, by templates that the host may replace path by path."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from authservice.core.messages.compose import OutgoingMessage
from authservice.kernel import message_queue, templates
from authservice.kernel.secret import Secret
from authservice.notification import languages
from authservice.notification.conf import brand

FOLDER = "authservice/notification"
_LONGEST = 200
_NAMELESS = (
    message_queue.ACCESS_WIPED,
    message_queue.EMAIL_CONFIRMED,
    message_queue.SIGNUP_UNPROVEN,
)


def context_of(letter: OutgoingMessage) -> dict[str, Any]:
    """What templates see: the letter's facts in words, `user`, `name`, `email` and `brand`."""
    return {
        **{name: _told(name, value) for name, value in letter.context.items()},
        "user": letter.person.user,
        "name": _name(letter),
        "email": letter.to,
        "brand": {name: one_line(text) for name, text in brand().items()},
    }


def render(letter: OutgoingMessage, part: str, context: Mapping[str, Any]) -> str:
    """One text of a letter: `part` is the name of its template."""
    return templates.render(f"{FOLDER}/{letter.kind}/{part}", context)


def plain(text: str) -> str:
    """A text body without the gaps that template tags leave."""
    lines = (line.rstrip() for line in text.strip().splitlines())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"


def one_line(text: str) -> str:
    """The text without line ends and other control characters, so that it fits into a header."""
    spaced = (" " if unicodedata.category(char) in ("Cc", "Zl", "Zp") else char for char in text)
    return " ".join("".join(spaced).split())


def _told(name: str, value: Any) -> Any:
    if isinstance(value, timedelta):
        return languages.span(value)
    if name == "at":
        return languages.moment(value)
    if name == "user_agent":
        return languages.browser(value)
    if isinstance(value, list | tuple):
        return [_told(name, entry) for entry in value]
    if isinstance(value, Mapping):
        return {key: _told(key, entry) for key, entry in value.items()}
    if isinstance(value, Secret):
        return value.reveal()
    if not isinstance(value, str):
        return value
    return one_line(value)[:_LONGEST]


def _name(letter: OutgoingMessage) -> str:
    """How to greet somebody who has proven the address.

    Anybody can sign up with a stranger's address, and the name is theirs to choose: it must not
    become a text that the service mails to that stranger.
    """
    person = letter.person
    # In these mails, an attacker who signed up with the address may have chosen the name.
    if not person.email_verified or letter.kind in _NAMELESS:
        return ""
    return one_line(person.account.name or person.first_name)[:_LONGEST]
