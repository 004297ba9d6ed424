"""The code of docs/views.rst."""

from __future__ import annotations

import re
import textwrap
from typing import Any

from tests.hosts.runs import ROOT

_TEXT = (ROOT / "docs" / "views.rst").read_text()


def block(word: str) -> str:
    """The block of code that contains this word."""
    found = re.findall(r"code-block:: python\n\n((?:   .*\n|\n)+)", _TEXT)
    (code,) = [textwrap.dedent(one) for one in found if word in one]
    return code


def run(word: str) -> dict[str, Any]:
    """The names that the block defines."""
    names: dict[str, Any] = {"__name__": __name__}
    exec(block(word), names)
    return names
