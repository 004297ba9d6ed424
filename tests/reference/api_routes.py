"""The routes in the tables of docs/api.rst."""

from __future__ import annotations

import re

from tests.reference import pages

# A row: the methods, then the paths, which may continue on a second line.
_ROW = re.compile(
    r"^   \* - (?P<methods>[A-Z, ]+)\n     - (?P<paths>``/.*(?:\n       ``/.*)*)$", re.MULTILINE
)
_PATH = re.compile(r"``(/[^`]*)``")


def listed() -> list[str]:
    """Each route of each row, such as `GET /me`, in the order of the page."""
    return [
        f"{method} {path}"
        for row in _ROW.finditer(pages.text("api"))
        for method in row["methods"].split(", ")
        for path in _PATH.findall(row["paths"])
    ]
