"""The post of the tests: jobs pile up, and a test turns them into letters as the worker would."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from authservice.core.messages import compose
from authservice.core.messages.compose import OutgoingMessage
from authservice.kernel.message_queue import Message


class Post:
    """A messenger that keeps what it is given."""

    def __init__(self) -> None:
        self.can_sms = True
        self.jobs: list[Message] = []

    def send(self, message: Message) -> None:
        self.jobs.append(message)

    def kinds(self) -> list[str]:
        return [job.kind for job in self.jobs]

    def letter(self, kind: str) -> OutgoingMessage | None:
        """What the newest job of a kind becomes."""
        newest = [job for job in self.jobs if job.kind == kind][-1]
        return compose.compose(newest)

    def link(self, kind: str) -> str:
        """The link in the letter of the newest job of a kind."""
        return self._context(kind)["link"].reveal()

    def token(self, kind: str) -> str:
        """The token in that link."""
        return query(self.link(kind))["token"]

    def code(self, kind: str) -> str:
        """The code in the letter of the newest job of a kind."""
        return self._context(kind)["code"].reveal()

    def _context(self, kind: str) -> Mapping[str, Any]:
        letter = self.letter(kind)
        assert letter, f"nothing to send for {kind}"
        return letter.context


def query(url: str) -> dict[str, str]:
    """The query of a link, each name once."""
    named = parse_qs(urlsplit(url).query, strict_parsing=True)
    assert all(len(values) == 1 for values in named.values())
    return {name: value for name, [value] in named.items()}


office = Post()
