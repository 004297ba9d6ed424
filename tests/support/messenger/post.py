"""A messenger that keeps jobs, and methods that compose their messages as the worker would."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

from authservice.core.messages import compose
from authservice.core.messages.compose import OutgoingMessage
from authservice.kernel import modules
from authservice.kernel.message_queue import Message, Messenger


class Post:
    """Keeps the jobs, and reads links and codes from their messages."""

    def __init__(self) -> None:
        self.can_sms = True
        self.jobs: list[Message] = []

    def send(self, message: Message) -> None:
        self.jobs.append(message)

    def kinds(self) -> list[str]:
        return [job.kind for job in self.jobs]

    def outgoing(self, kind: str) -> OutgoingMessage | None:
        """The message of the newest job of a kind, or `None` if it sends none."""
        newest = [job for job in self.jobs if job.kind == kind][-1]
        return compose.compose(newest)

    def link(self, kind: str) -> str:
        """The link in the message of the newest job of a kind."""
        return self._context(kind)["link"].reveal()

    def token(self, kind: str) -> str:
        """The token in that link."""
        return query(self.link(kind))["token"]

    def code(self, kind: str) -> str:
        """The code in the message of the newest job of a kind."""
        return self._context(kind)["code"].reveal()

    def _context(self, kind: str) -> Mapping[str, Any]:
        outgoing = self.outgoing(kind)
        assert outgoing, f"the job of {kind} sends no message"
        return outgoing.context


def query(url: str) -> dict[str, str]:
    """The query of a link; fails if a name occurs twice."""
    named = parse_qs(urlsplit(url).query, strict_parsing=True)
    assert all(len(values) == 1 for values in named.values())
    return {name: value for name, [value] in named.items()}


office = Post()


class _PostOffice(Messenger):
    """The messenger of the hosts of tests: it hands all jobs to `office`."""

    @property
    def can_sms(self) -> bool:
        return office.can_sms

    def send(self, message: Message) -> None:
        office.send(message)


messenger = _PostOffice()


@contextmanager
def receiving_jobs() -> Iterator[Post]:
    """The messenger that receives the jobs inside the block, empty at first."""
    office.jobs.clear()
    office.can_sms = True
    with modules.plugged("messenger", office):
        yield office
