"""Follows a tutorial of the docs: writes its files and runs its commands."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from tests.snippets.blocks import Block
from tests.support.ports import free_port
from tests.wheel.projects import outside

_T = TypeVar("_T")
_PATIENCE = 30  # seconds
_RESTART = 3  # seconds in which the server notices a change and ends
_DONE = ("mkdir", "python3 -m venv", ".venv/bin/pip")  # the test has made folder and environment


class Reader:
    """`follow` takes the blocks of a page in order. Its server listens on a free port."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self._folder, self._programs, self._port = folder, programs, free_port()
        self._printed = folder.with_name("printed")
        self._server: subprocess.Popen[bytes] | None = None
        self._saved = folder
        self.url = f"http://localhost:{self._port}"

    def follow(self, block: Block) -> str:
        """Write the file of the block, or run its commands; returns what these print."""
        code = block.code.replace("8000", str(self._port))
        if block.language == "sh":
            commands = code.replace("\\\n", "").splitlines()
            return "".join(self._run(one) for one in commands if not one.startswith(_DONE))
        if block.language != "text":
            self._write(code)
        return ""

    def _write(self, code: str) -> None:
        first, rest = code.split("\n", 1)
        found = re.search(r"[\w/]+\.\w+", first)
        assert found, f"{first!r} names no file"
        path = self._folder / found[0]
        path.parent.mkdir(exist_ok=True)
        adds = "add at the end" in first
        assert path.exists() == adds, f"{path} exists, or does not"
        # New projects of Django 6.1 have MAILERS, which Django refuses together with this setting.
        if "EMAIL_BACKEND" not in rest or "MAILERS" not in path.read_text():
            with path.open("a") as file:
                file.write(f"\n{rest}" if adds else code)
            self._saved = path

    def _run(self, command: str) -> str:
        command = command.replace(".venv/bin", str(self._programs))
        if "runserver" in command:
            self._serve(f"{command} {self._port}")
            return ""
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=self._folder,
            env=outside(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def _serve(self, command: str) -> None:
        with self._printed.open("w") as printed:
            self._server = subprocess.Popen(
                command.split(),
                cwd=self._folder,
                env={**outside(), "PYTHONUNBUFFERED": "1"},
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.wait_for_status("/auth/me", 401)

    def wait_for_status(self, path: str, status: int) -> None:
        """Wait until the server, which loads changed files by itself, answers with the status.

        The last file is saved again now and then: the server does not notice a change in the
        moment between its start and its first look at the files.
        """

        def answers() -> bool:
            if time.time() - self._saved.stat().st_mtime > 3:
                self._saved.touch()
            return self._status(path) == status

        self.wait_for(answers)
        # The answer may be that of the process that ends because of the last change.
        while time.time() - self._saved.stat().st_mtime < _RESTART:
            time.sleep(0.1)
        self.wait_for(lambda: self._status(path) == status)

    def wait_for(self, condition: Callable[[], _T]) -> _T:
        end = time.monotonic() + _PATIENCE
        while not (found := condition()):
            assert time.monotonic() < end, self.printed()
            time.sleep(0.1)
        return found

    def printed(self) -> str:
        """The output of the server."""
        return self._printed.read_text()

    def _status(self, path: str) -> int:
        request = urllib.request.Request(self.url + path)
        try:
            with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code
        except OSError:
            return 0

    @contextmanager
    def stopped_afterwards(self) -> Iterator[None]:
        try:
            yield
        finally:
            if self._server:
                os.killpg(self._server.pid, signal.SIGTERM)
                self._server.wait()
