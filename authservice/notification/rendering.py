"""Render messages with templates; a template of the host at the same path replaces ours."""

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
    message_queue.CHANGE_EMAIL,
    message_queue.EMAIL_CONFIRMED,
    message_queue.SIGNUP_UNPROVEN,
)


def context_of(outgoing: OutgoingMessage) -> dict[str, Any]:
    """The template context: the message's values as text, `user`, `name`, `email` and `brand`."""
    return {
        **{name: _presented(name, value) for name, value in outgoing.context.items()},
        "user": outgoing.person and outgoing.person.user,
        "name": _name(outgoing),
        "email": outgoing.to,
        "brand": {name: one_line(text) for name, text in brand().items()},
    }


def render(outgoing: OutgoingMessage, part: str, context: Mapping[str, Any]) -> str:
    """Render one text of a message; `part` is the file name of its template."""
    return templates.render(f"{FOLDER}/{outgoing.kind}/{part}", context)


def plain(text: str) -> str:
    """A text body without the blank lines that template tags leave."""
    lines = (line.rstrip() for line in text.strip().splitlines())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"


def opening(text: str) -> str:
    """The text without the colon that follows the name of a service that has none.

    Subjects and text messages begin with `{{ brand.name }}:`, in every language.
    """
    rest = re.sub(r"^\s*:\s*", "", text)
    return text if rest == text else rest[:1].upper() + rest[1:]


def one_line(text: str) -> str:
    """The text without line ends and other control characters, so that it is safe in a header."""
    spaced = (" " if unicodedata.category(char) in ("Cc", "Zl", "Zp") else char for char in text)
    return " ".join("".join(spaced).split())


def _presented(name: str, value: Any) -> Any:
    if isinstance(value, timedelta):
        return languages.span(value)
    if name == "at":
        return languages.moment(value)
    if name == "user_agent":
        return languages.browser(value)
    if isinstance(value, list | tuple):
        return [_presented(name, entry) for entry in value]
    if isinstance(value, Mapping):
        return {key: _presented(key, entry) for key, entry in value.items()}
    if isinstance(value, Secret):
        return value.reveal()
    if not isinstance(value, str):
        return value
    return one_line(value)[:_LONGEST]


def _name(outgoing: OutgoingMessage) -> str:
    """The name for the greeting; empty unless the user has verified the address.

    An attacker can sign up with another person's address and choose the name. The service must not
    e-mail a text of the attacker's choice to the owner of that address.
    """
    person = outgoing.person
    # In e-mails of these kinds, an attacker who signed up with the address, or requested it for
    # another account, may have set the name.
    if person is None or not person.email_verified or outgoing.kind in _NAMELESS:
        return ""
    return one_line(person.account.name or person.first_name)[:_LONGEST]
