"""The code of docs/extending.rst, as modules of a host project."""

from __future__ import annotations

import re
import sys
import textwrap
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.hosts.runs import ROOT

_TEXT = (ROOT / "docs" / "extending.rst").read_text()
_FILE = re.compile(r"^# ([\w/]+)\.py\n")


def blocks() -> list[tuple[str, str]]:
    """The file that each block of code names in its first line, such as `accounts/hooks`, and the
    code."""
    found = re.findall(r"code-block:: python\n\n((?:   .*\n|\n)+)", _TEXT)
    code = [textwrap.dedent(block) for block in found]
    return [(name[1], one) for one in code if (name := _FILE.match(one))]


def settings() -> list[dict[str, Any]]:
    """`AUTHSERVICE["CORE"]` of each block of settings."""
    found = []
    for name, code in blocks():
        if name == "settings":
            values: dict[str, Any] = {}
            exec(code, values)
            found.append(values["AUTHSERVICE"]["CORE"])
    return found


@contextmanager
def installed(*files: str, **others: types.ModuleType) -> Iterator[None]:
    """These files of the page are modules of a package `accounts`; `others` are further modules of
    it, such as one that calls another service."""
    added = {f"accounts.{name}": module for name, module in others.items()}
    sys.modules.update({"accounts": types.ModuleType("accounts"), **added})
    try:
        for path, code in blocks():
            name = path.replace("/", ".")
            if name.removeprefix("accounts.") in files:
                module = sys.modules[name] = types.ModuleType(name)
                exec(code, module.__dict__)
        yield
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "accounts"]:
            del sys.modules[name]
