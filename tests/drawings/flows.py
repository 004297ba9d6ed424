"""The flows of the module pages: `docs/flows/NAME.txt` is that of the page with this name."""

from __future__ import annotations

import posixpath

from tests.drawings.sequence import COLORS, draw
from tests.reference import pages

FOLDER = pages.DOCS / "flows"


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.txt"))


def page_of(name: str) -> str:
    """The page of a flow, which may be in a folder of the docs."""
    [page] = [page for page in pages.names() if posixpath.basename(page) == name]
    return page


def drawn() -> dict[str, str]:
    """Each picture by the name of its file."""
    texts = {name: (FOLDER / f"{name}.txt").read_text() for name in names()}
    return {
        f"{name}-{scheme}.svg": draw(text, scheme, pages.title(page_of(name)))
        for name, text in texts.items()
        for scheme in COLORS
    }
