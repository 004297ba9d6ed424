"""The code of a page of the docs, as modules of a host project.

page = Page("extending")
with page.installed("hooks"):  # `accounts/hooks.py` of the page can be imported
    configure(CORE=page.settings()[0]["AUTHSERVICE"]["CORE"])
"""

from __future__ import annotations

import importlib
import re
import sys
import textwrap
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.hosts.runs import ROOT

_FILE = re.compile(r"^# ([\w/]+)\.py\n")
_FILES = re.compile(r"^# ([\w/]+\.py)\n", re.MULTILINE)


class Page:
    def __init__(self, name: str) -> None:
        self._text = (ROOT / "docs" / f"{name}.rst").read_text()

    def code(self, language: str) -> list[str]:
        """The blocks of code in this language."""
        pattern = rf"code-block:: {re.escape(language)}\n\n((?:   .*\n|\n)+)"
        return [textwrap.dedent(block) for block in re.findall(pattern, self._text)]

    def files(self) -> list[tuple[str, str]]:
        """The file that each block of Python names in its first line, such as `accounts/hooks`,
        and the code."""
        return [(name[1], one) for one in self.code("python") if (name := _FILE.match(one))]

    def names(self, file: str) -> dict[str, Any]:
        """What a file of the page defines."""
        (code,) = [code for name, code in self.files() if name == file]
        defined: dict[str, Any] = {"__name__": file.replace("/", ".")}
        exec(code, defined)
        return defined

    def settings(self, **given: Any) -> list[dict[str, Any]]:
        """The names that each block of settings sets; `given` are those that it extends."""
        return [_run(code, given) for name, code in self.files() if name == "settings"]

    @contextmanager
    def installed(self, *files: str, **others: types.ModuleType) -> Iterator[None]:
        """These files of the page are modules of a package `accounts`; `others` are further modules
        of it, such as one that calls another service."""
        added = {f"accounts.{name}": module for name, module in others.items()}
        sys.modules.update({"accounts": types.ModuleType("accounts"), **added})
        try:
            for path, code in self.files():
                name = path.replace("/", ".")
                if name.removeprefix("accounts.") in files:
                    module = sys.modules[name] = types.ModuleType(name)
                    exec(code, module.__dict__)
            yield
        finally:
            for name in [name for name in sys.modules if name.partition(".")[0] == "accounts"]:
                del sys.modules[name]

    @contextmanager
    def app(self, name: str, folder: Path) -> Iterator[None]:
        """The files of the app `name` of the page are in `folder`, as in the project of a reader:
        `mounted(name)` installs it."""
        (folder / name).mkdir()
        for block in self.code("python"):
            files = iter(_FILES.split(block)[1:])
            for file, code in zip(files, files, strict=True):
                if file.startswith(f"{name}/"):
                    (folder / file).write_text(code)
        sys.path.insert(0, str(folder))
        importlib.invalidate_caches()
        try:
            yield
        finally:
            sys.path.remove(str(folder))
            for module in [one for one in sys.modules if one.partition(".")[0] == name]:
                del sys.modules[module]


def _run(code: str, given: dict[str, Any]) -> dict[str, Any]:
    names: dict[str, Any] = {"AUTHSERVICE": {}}
    names.update((name, [*value]) for name, value in given.items())
    exec(code, names)
    return {name: value for name, value in names.items() if name.isupper()}
