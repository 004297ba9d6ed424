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
_SENTENCE = re.compile(r"^(?![.\s:=-])[A-Z`].+?\.(?=\s|$)", re.MULTILINE | re.DOTALL)
_MARKUP = re.compile(r":\w+:`(?:([^`<]*) <[^`]*|([^`]*))`|`+([^`<]*?)(?: <[^`]*)?`+_*")


def text() -> str:
    head = FILE.read_text().partition("\n## ")[0].rstrip()
    return "\n\n".join([head, *_parts()]) + "\n"


def _parts() -> Iterator[str]:
    sentences = dict(_LINE.findall(FILE.read_text()))
    for caption, names in pages.by_caption().items():
        lines = [
            f"- [{pages.title(name)}]({name}.html): {sentences.get(name) or first_sentence(name)}"
            for name in names
        ]
        yield f"## {caption}\n\n" + "\n".join(lines)


def first_sentence(name: str) -> str:
    body = pages.text(name).split("\n\n", 1)[1]
    [sentence] = _SENTENCE.findall(body)[:1]
    return " ".join(
        _MARKUP.sub(lambda found: "".join(filter(None, found.groups())), sentence).split()
    )


def write() -> None:
    FILE.write_text(text())
