"""The snippets of the README and of the docs.

    for block in of_page("docs/views.rst"):
        print(block.place, block.language)

A literal block (`::`) is shell: the README and the docs have no other.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from tests.hosts.runs import ROOT

_START = re.compile(r"^(?P<indent> *)(?:\.\. code-block:: (?P<language>\S+)|(?!\.\. ).*::)$")
_LITERAL = "sh"


@dataclass(frozen=True)
class Block:
    page: str
    line: int
    """The line of the first line of code."""
    language: str
    code: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def all_pages() -> list[str]:
    docs = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.rst"))
    return ["README.rst", *docs]


def everything() -> list[Block]:
    return [block for page in all_pages() for block in of_page(page)]


def of_page(page: str) -> list[Block]:
    """The blocks of a page, in order."""
    return list(_blocks(page, (ROOT / page).read_text().splitlines()))


def _blocks(page: str, lines: list[str]) -> Iterator[Block]:
    for number, line in enumerate(lines):
        if start := _START.match(line):
            first, code = _body(lines, number + 1, len(start["indent"]))
            if code:
                yield Block(page, first + 1, start["language"] or _LITERAL, code)


def _body(lines: list[str], at: int, indent: int) -> tuple[int, str]:
    """The indented lines after the directive and its options, and the index of the first."""
    while at < len(lines) and (not lines[at].strip() or lines[at].lstrip().startswith(":")):
        at += 1
    end = at
    while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) > indent):
        end += 1
    return at, textwrap.dedent("\n".join(lines[at:end])).strip("\n") + "\n" if end > at else ""


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
