"""The pages of the docs, in the order of the table of contents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from tests.hosts.runs import ROOT

DOCS = ROOT / "docs"
_TREE = re.compile(r"^\.\. toctree::\n((?:   .*\n|\n)+)", re.MULTILINE)
_CAPTION = re.compile(r":caption: (.+)")


@cache
def names() -> tuple[str, ...]:
    """Each page below `docs` without its suffix, except for the list of them for code hosts."""
    found = {path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.rst")}
    return tuple(sorted(found - {"README"}))


def text(name: str) -> str:
    return (DOCS / f"{name}.rst").read_text()


def title(name: str) -> str:
    [found] = re.findall(r"^(?!\.\.)(\S.*)\n=+\n", text(name), re.MULTILINE)[:1]
    return str(found).replace("``", "")


def by_caption() -> dict[str, list[str]]:
    """The pages of each part of the table of contents."""
    parts = _TREE.findall(text("index"))
    return {_CAPTION.findall(part)[0]: list(_listed(part, "")) for part in parts}


def _listed(part: str, folder: str) -> Iterator[str]:
    lines = [line.strip() for line in part.splitlines() if line.strip()]
    for entry in (line for line in lines if not line.startswith(":")):
        if entry == "*":
            inside = [name for name in names() if name.startswith(folder)]
            yield from (name for name in inside if name != f"{folder}index")
        else:
            yield folder + entry
            if entry.endswith("/index"):
                for nested in _TREE.findall(text(entry)):
                    yield from _listed(nested, entry.removesuffix("index"))
