"""The source files of the package, each parsed once in a process.

Many tests look at all of them, and parsing them takes longer than to look.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import authservice

TREE = Path(authservice.__file__).parent


@cache
def paths() -> tuple[Path, ...]:
    return tuple(sorted(TREE.rglob("*.py")))


@cache
def parsed(path: Path) -> ast.Module:
    """The tree of a file, which other tests read too, so nobody changes it."""
    return ast.parse(path.read_text())
