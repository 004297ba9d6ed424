"""A server of breached passwords on this machine, by the protocol of Have I Been Pwned."""

from __future__ import annotations

import hashlib
import socket
from typing import Any

from tests.kernel.outbound.servers import Server

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"


def digest(password: str) -> str:
    return hashlib.sha1(password.encode()).hexdigest().upper()


def padding(start: str) -> list[str]:
    """Endings that belong to no password, with the count 0."""
    return [f"{digest(f'{start}{number}')[5:]}:0" for number in range(800)]


class Ranges:
    """`breached` are the passwords that it lists, `padded` those among its padding. `fault`
    replaces its answers."""

    def __init__(self) -> None:
        self.breached: set[str] = set()
        self.padded: set[str] = set()
        self.fault: Any = None
        self.server: Server | None = None

    @property
    def url(self) -> str:
        return f"{self.server.url}range/"

    @property
    def asked(self) -> list[bytes]:
        """The requests that it got, with their headers."""
        return self.server.requests

    def __call__(self, client: socket.socket, server: Server) -> None:
        if self.fault is not None:
            self.fault(client, server)
            return
        start = server.requests[-1].split()[1].decode().rpartition("/")[2]
        lines = padding(start)
        for count, passwords in ((7, self.breached), (0, self.padded)):
            found = [digest(password) for password in passwords]
            lines += [f"{text[5:]}:{count}" for text in found if text.startswith(start)]
        client.sendall(sized("\r\n".join(lines).encode()))


def sized(body: bytes, start: bytes = OK) -> bytes:
    return start + b"Content-Length: %d\r\n\r\n" % len(body) + body
