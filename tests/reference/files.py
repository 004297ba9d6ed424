"""The page of files: each file of the package with the first sentence of its docstring."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import authservice
from tests.reference import rst

INTRO = """
Every file of ``authservice`` except for migrations and commands, with its subject. How they work
together is in ``docs/architecture.rst``.
"""
_ROOT = Path(authservice.__file__).parent
_NOT_LISTED = {"migrations", "management"}


def page() -> str:
    return rst.page("Files", INTRO, _parts())


def _parts() -> Iterator[str]:
    for folder in sorted({path.parent for path in _files()}):
        inside = folder.relative_to(_ROOT).as_posix()
        title = "authservice" if inside == "." else inside
        entries = [_entry(path) for path in sorted(_files()) if path.parent == folder]
        yield rst.entry(rst.anchor("files", title), rst.literal(title), "\n".join(entries))


def _files() -> list[Path]:
    return [
        path
        for path in _ROOT.rglob("*.py")
        if path.name != "__init__.py" and _NOT_LISTED.isdisjoint(path.parts)
    ]


def _entry(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text())) or ""
    subject = re.split(r"(?<=\.)\s", " ".join(text.split("\n\n")[0].split()), maxsplit=1)[0]
    return rst.wrapped(f"{rst.literal(path.name)}: {rst.prose(subject)}", first="- ", rest="  ")
