"""The mailbox of the example: an e-mail backend that keeps mails in a folder, and its reader.

Mails contain links that log in, so this is for development only: the settings install it only with
`DEBUG`, and only a browser on this machine with the key of the mailbox may read it.
"""

import email
import os
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import default as policy
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.mail.backends.console import EmailBackend as ConsoleBackend
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare

# Older mails are deleted.
KEPT = 100
_SUFFIX = ".eml"
_COOKIE = "console_mailbox"
# Headers of a proxy. One that sends none makes every client local, so the key is required too.
_FORWARDED = (
    *("HTTP_FORWARDED", "HTTP_VIA", "HTTP_X_REAL_IP", "HTTP_X_FORWARDED_FOR"),
    *("HTTP_X_FORWARDED_HOST", "HTTP_X_FORWARDED_PROTO"),
)


class EmailBackend(ConsoleBackend):
    """Keeps each mail in `CONSOLE_MAILBOX`, and prints it as Django's console backend does."""

    def write_message(self, message: Any) -> None:
        super().write_message(message)
        keep(message.message().as_bytes())


def keep(mail: bytes) -> None:
    folder = Path(settings.CONSOLE_MAILBOX)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = f"{time.time_ns():020}-{os.getpid()}"
    unfinished = folder / f"{name}.part"
    unfinished.touch(mode=0o600)
    unfinished.write_bytes(mail)
    unfinished.rename(folder / f"{name}{_SUFFIX}")
    for old in _files()[KEPT:]:
        old.unlink(missing_ok=True)


def mails(after: str = "") -> list[dict[str, Any]]:
    """The mails after the one with the id `after`, newest first, with the plain text of each."""
    return [_read(file) for file in _files() if file.stem > after]


def _files() -> list[Path]:
    if not settings.CONSOLE_MAILBOX:
        return []
    return sorted(Path(settings.CONSOLE_MAILBOX).glob(f"*{_SUFFIX}"), reverse=True)


def _read(file: Path) -> dict[str, Any]:
    mail = email.message_from_bytes(file.read_bytes(), EmailMessage, policy=policy)
    body = mail.get_body(("plain",))
    return {
        "id": file.stem,
        "to": str(mail["To"]),
        "subject": str(mail["Subject"]),
        "at": datetime.fromtimestamp(file.stat().st_mtime, UTC),
        # Some versions of Django end the text with a line end, others do not.
        "text": body.get_content().rstrip() if body else "",
    }


def may_read(request: HttpRequest) -> bool:
    """Whether a browser on this machine sent the request, with the key, from a page of this origin.

    A request that a proxy forwarded may come from another machine, though its connection is local.
    """
    meta = request.META
    return (
        settings.DEBUG
        and not any(header in meta for header in _FORWARDED)
        and _is_local(meta.get("REMOTE_ADDR", ""))
        and _is_from_here(meta)
        and is_key(request.COOKIES.get(_COOKIE, ""))
    )


def _is_from_here(meta: Mapping[str, Any]) -> bool:
    """Whether a page of this origin, or the user, sent the request. The local provider, which has
    another port, leads back to the shop by a visit, whose page it cannot read."""
    site = meta.get("HTTP_SEC_FETCH_SITE", "none")
    visit = (meta.get("HTTP_SEC_FETCH_MODE"), meta.get("HTTP_SEC_FETCH_DEST"))
    is_visit = visit == ("navigate", "document")
    return site in ("same-origin", "none") or (site == "same-site" and is_visit)


def is_key(given: str) -> bool:
    key = settings.CONSOLE_MAILBOX_KEY
    return bool(key) and constant_time_compare(given, key)


def let_read(response: HttpResponse) -> None:
    """Store the key in the browser, until it is closed."""
    response.set_cookie(
        _COOKIE, settings.CONSOLE_MAILBOX_KEY, httponly=True, samesite="Strict", secure=False
    )


def _is_local(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False
