"""Faults of Redis, which has the flood limits and, with `SESSION.STORE`, the ended sessions."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from tests.faults.world import AWAY, Fault, World
from tests.support.ports import free_port

_JUNK = 2000  # entries of 1 kB


class Redis:
    """A private Redis without persistence: whenever it is started, it is empty."""

    def __init__(self, folder: Path, password: str = "") -> None:
        self._folder, self.port, self._password = folder, free_port(), password
        self.start()

    def start(self) -> None:
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir"]
        options.append(str(self._folder))
        if self._password:
            options += ["--requirepass", self._password, "--masterauth", self._password]
        self.process = subprocess.Popen(["redis-server", *options], stdout=subprocess.DEVNULL)
        while self.command("PING") != "+PONG":
            time.sleep(0.05)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def command(self, *words: str) -> str:
        """The first line of the response to a command; empty if there is none."""
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1) as line:
            if self._password:
                line.sendall(f"AUTH {self._password}\r\n".encode())
                line.recv(4096)
            line.sendall((" ".join(words) + "\r\n").encode())
            return line.recv(4096).decode().partition("\r\n")[0]
        return ""


def restarted(world: World) -> None:
    world.redis.kill()
    time.sleep(AWAY)
    world.redis.start()


def frozen(world: World) -> None:
    """It accepts connections and does not respond."""
    os.kill(world.redis.process.pid, signal.SIGSTOP)
    time.sleep(AWAY)
    os.kill(world.redis.process.pid, signal.SIGCONT)


def evicting(world: World) -> None:
    """It deletes entries of its own choice, as many as there are."""
    world.redis.command("CONFIG SET maxmemory-policy allkeys-random")
    world.redis.command("CONFIG SET maxmemory 1100000")
    for number in range(_JUNK):
        world.redis.command("SET", f"junk{number}", "x" * 1000)
    world.redis.command("CONFIG SET maxmemory 0")
    world.redis.command("FLUSHALL")


def full(world: World) -> None:
    """It refuses to store anything, and answers questions."""
    world.redis.command("CONFIG SET maxmemory-policy noeviction")
    world.redis.command("CONFIG SET maxmemory 1")
    time.sleep(AWAY)
    world.redis.command("CONFIG SET maxmemory 0")


# Sessions are also in Redis, and requests are counted there.
_USED = {
    "AUTHSERVICE_LOGIN": "session",
    "AUTHSERVICE_OAUTH_SESSION": "1",
    "AUTHSERVICE_SESSION_STORE": "cache",
    "AUTHSERVICE_THROTTLE": "1",
}
FAULTS = {
    "redis-restarted": Fault(restarted, variables=_USED, needs_redis=True),
    "redis-frozen": Fault(frozen, variables=_USED, needs_redis=True),
    "redis-evicting": Fault(evicting, variables=_USED, needs_redis=True),
    "redis-full": Fault(full, variables=_USED, needs_redis=True),
}
