"""Ports for servers that tests start."""

from __future__ import annotations

import socket
from contextlib import suppress
from random import SystemRandom

# Below those that Linux gives to outgoing connections (32,768 and up): one of these can be in use
# by the time at which the server listens.
_FIRST, _LAST = 20_000, 32_000
_RANDOM = SystemRandom()  # hypothesis sets the seed of `random`


def free_port() -> int:
    while True:
        port = _RANDOM.randrange(_FIRST, _LAST)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
