"""A TCP proxy before PostgreSQL that cuts a connection at a chosen statement, or leads elsewhere.

It reads the messages of the client (the frontend protocol, PostgreSQL's documentation, chapter
"Frontend/Backend Protocol"): `Q` runs a simple statement, `E` executes a prepared one.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from threading import Lock, Thread

BEFORE, AFTER = "before", "after"
_STATEMENTS = (b"Q", b"E")
_LENGTH = struct.Struct(">I")


class Proxy:
    """Forwards to the port `target`. `cut(number)` decides for each statement: `BEFORE` cuts the
    connection instead of forwarding it, `AFTER` forwards it and cuts when the response arrives."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.cut: Callable[[int], str] = _never
        self.statements = 0
        self._lock = Lock()
        self._open: set[socket.socket] = set()

    def __enter__(self) -> Proxy:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()
        self.drop()

    def drop(self) -> None:
        """Cut every open connection."""
        with self._lock:
            opened, self._open = self._open, set()
        for one in opened:
            _close(one)

    def watch(self, cut: Callable[[int], str] | None = None) -> None:
        """Count statements from 1 again, and cut as `cut` says."""
        with self._lock:
            self.statements, self.cut = 0, cut or _never

    def decide(self) -> str:
        with self._lock:
            self.statements += 1
            return self.cut(self.statements)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client = self._listener.accept()[0]
                Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(("127.0.0.1", self.target), 2)
        except OSError:
            client.close()
            return
        server.settimeout(None)
        for one in (client, server):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self._lock:
            self._open |= {client, server}
        _Wire(self, client, server).run()
        with self._lock:
            self._open -= {client, server}


class _Wire:
    """One connection of the client and its connection to the server."""

    def __init__(self, proxy: Proxy, client: socket.socket, server: socket.socket) -> None:
        self._proxy, self._client, self._server = proxy, client, server
        self._deaf = False  # the next response is not forwarded: the connection is cut instead
        self._buffer = b""
        self._started = False

    def run(self) -> None:
        Thread(target=self._backward, daemon=True).start()
        with suppress(OSError):
            while received := self._client.recv(65536):
                if not self._forward(received):
                    break
        self._end()

    def _forward(self, received: bytes) -> bool:
        """Forward the data, or return False if the connection is to be cut."""
        self._buffer += received
        for kind in self._messages():
            if kind not in _STATEMENTS:
                continue
            decision = self._proxy.decide()
            if decision == BEFORE:
                return False
            self._deaf = self._deaf or decision == AFTER
        self._server.sendall(received)
        return True

    def _messages(self) -> list[bytes]:
        """The kinds of the complete messages in the buffer, which are removed from it."""
        kinds = []
        while True:
            # The first message has no kind. The tests use no TLS; libpq asks for it all the same,
            # and asks again after the refusal.
            head = 1 if self._started else 0
            if len(self._buffer) < head + 4:
                return kinds
            size = head + _LENGTH.unpack_from(self._buffer, head)[0]
            if len(self._buffer) < size:
                return kinds
            kinds.append(self._buffer[:head])
            self._started = self._started or size > 8  # 8 bytes: a request for TLS or GSS
            self._buffer = self._buffer[size:]

    def _backward(self) -> None:
        with suppress(OSError):
            while received := self._server.recv(65536):
                if self._deaf:
                    break
                self._client.sendall(received)
        self._end()

    def _end(self) -> None:
        _close(self._client)
        _close(self._server)


def _never(_: int) -> str:
    return ""


def _close(one: socket.socket) -> None:
    with suppress(OSError):
        # Wakes the thread that reads from it; `close` alone does not.
        one.shutdown(socket.SHUT_RDWR)
    one.close()
