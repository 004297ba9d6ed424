"""The code of docs/extending.rst, as modules of a host project."""

from __future__ import annotations

import re
import sys
import textwrap
import types
from collections.abc import Iterator
from contextlib import contextmanager

from tests.hosts.runs import ROOT

_TEXT = (ROOT / "docs" / "extending.rst").read_text()
_FILE = re.compile(r"^# ([\w/]+)\.py\n")


def blocks() -> dict[str, str]:
    """The code of each file that the page names in a first line, such as `# accounts/hooks.py`."""
    found: dict[str, str] = {}
    for block in re.findall(r"code-block:: python\n\n((?:   .*\n|\n)+)", _TEXT):
        code = textwrap.dedent(block)
        if name := _FILE.match(code):
            found[name[1]] = code
    return found


@contextmanager
def installed(**packages: types.ModuleType) -> Iterator[None]:
    """The files of `accounts` on the page are modules that can be imported; `packages` are further
    modules of it, such as one that calls another service."""
    modules = {"accounts": types.ModuleType("accounts")}
    modules |= {f"accounts.{name}": module for name, module in packages.items()}
    before = dict(sys.modules)
    sys.modules.update(modules)
    try:
        for path, code in blocks().items():
            if path.startswith("accounts/"):
                name = path.replace("/", ".")
                module = types.ModuleType(name)
                sys.modules[name] = module
                exec(code, module.__dict__)
        yield
    finally:
        for name in set(sys.modules) - set(before):
            if name.startswith("accounts"):
                del sys.modules[name]
