"""Apply mutations to a copy of the tree, and find out which test detects them."""

from __future__ import annotations

import compileall
import os
import py_compile
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.mutations.kinds import Mutation

ROOT = Path(__file__).resolve().parents[2]
_PARTS = ("authservice", "example_project", "tests", "docs", "pyproject.toml", "README.rst")
_RED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)
DATABASE = "DATABASE_URL"
_FAILED = 1  # pytest's exit code for "tests were run, and some failed"


class Stale(Exception):
    """The text that a mutation replaces is not in the tree as often as expected."""


class Survivor(Exception):
    """No test detects the mutation."""


@dataclass
class Copy:
    """A copy of the tree that mutations may change."""

    folder: Path

    @classmethod
    def into(cls, folder: Path) -> Copy:
        folder.mkdir()
        for name in _PARTS:
            source, target = ROOT / name, folder / name
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, target)
        # Compiled once, for hundreds of processes. By the hash of the source, since a mutation may
        # have the size and the time of the file that it replaces.
        compileall.compile_dir(
            folder, quiet=2, invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH
        )
        return cls(folder)

    def turn_red(self, mutation: Mutation) -> str:
        """The first test that fails with the mutation. Raises `Stale`, `Survivor`."""
        file = self.folder / mutation.file
        sound = file.read_text()
        file.write_text(mutated(sound, mutation))
        try:
            run = self.tests(mutation)
        finally:
            file.write_text(sound)
        red = _RED.search(run.stdout)
        if run.returncode != _FAILED or red is None:
            raise Survivor(f"{mutation.lost}: nothing turned red\n{run.stdout[-2000:]}")
        return red[1]

    def stay_green(self, mutation: Mutation) -> None:
        """Raises `Survivor` if tests fail without the mutation: they could not detect it then."""
        run = self.tests(mutation)
        if run.returncode != 0:
            raise Survivor(f"{mutation.lost}: red without it\n{run.stdout[-2000:]}")

    def tests(self, mutation: Mutation) -> subprocess.CompletedProcess[str]:
        """Run the tests that should detect the mutation, up to the first failure."""
        options = ("-q", "-x", "--tb=no", "-rfE", "-p", "no:cacheprovider")
        return subprocess.run(
            [sys.executable, "-B", "-m", "pytest", *options, *mutation.tests],
            cwd=self.folder,
            env=self._environment(mutation),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    def _environment(self, mutation: Mutation) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTEST_", "COV_"))
        }
        if not mutation.database:
            kept.pop(DATABASE, None)
        elif DATABASE in kept:
            kept[DATABASE] += f"_{self.folder.name}"  # its tests create a database of this name
        return {**kept, "PYTHONPATH": str(self.folder), "TEST_HOST": ""}


def mutated(text: str, mutation: Mutation) -> str:
    """`text` with the edits of the mutation. Raises `Stale`."""
    for old, new in mutation.edits:
        found = text.count(old)
        if not found or (mutation.times and found != mutation.times):
            raise Stale(f"{mutation.lost}: {old!r} occurs {found} times in {mutation.file}")
        text = text.replace(old, new)
    return text
