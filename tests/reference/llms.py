"""`docs/llms.txt`: the pages of the table of contents, with a sentence each.

The sentences are written by hand in that file and kept. A page that is not there yet gets its first
sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.reference import pages

FILE = pages.DOCS / "llms.txt"
_LINE = re.compile(r"^- \[.+\]\((\S+)\.html\): (.+)$", re.MULTILINE)
# To a full stop, or to a colon before a list or a block of code.
_SENTENCE = re.compile(
    r"^(?![.\s:=-])[A-Z`].+?(?:\.(?=\s|$)|::?(?=\n\n))", re.MULTILINE | re.DOTALL
)
# The line below a heading, and the heading itself.
_HEADING = re.compile(r"^\S.*\n([=~-])\1{2,}\n", re.MULTILINE)
_MARKUP = re.compile(r":\w+:`(?:([^`<]*) <[^`]*|([^`]*))`|`+([^`<]*?)(?: <[^`]*)?`+_*")


def text() -> str:
    head = FILE.read_text().partition("\n## ")[0].rstrip()
    return "\n\n".join([head, *_parts()]) + "\n"


def sentences() -> dict[str, str]:
    """What is said of each page."""
    written = dict(_LINE.findall(FILE.read_text()))
    names = [name for part in pages.by_caption().values() for name in part]
    return {name: written.get(name) or first_sentence(name) for name in names}


def _parts() -> Iterator[str]:
    said = sentences()
    for caption, names in pages.by_caption().items():
        lines = [f"- [{pages.title(name)}]({name}.html): {said[name]}" for name in names]
        yield f"## {caption}\n\n" + "\n".join(lines)


def first_sentence(name: str) -> str:
    body = _HEADING.sub("", pages.text(name))
    [sentence] = _SENTENCE.findall(body)[:1]
    plain = _MARKUP.sub(lambda found: "".join(filter(None, found.groups())), sentence)
    return " ".join(plain.replace("*", "").split()).rstrip(".:") + "."


def write() -> None:
    FILE.write_text(text())
