"""`docs/README.rst`: the pages of the table of contents with plain links.

A code host shows it below the list of files in `docs`, and shows no table of contents of Sphinx.
"""

from __future__ import annotations

from tests.reference import llms, pages

FILE = pages.DOCS / "README.rst"
_HEAD = """\
.. Written by ``python -m tests.reference``: change docs/index.rst or docs/llms.txt instead.

All pages
=========

The same pages with a search: https://authservice.readthedocs.io/
"""


def text() -> str:
    sentences = llms.sentences()
    parts = [_HEAD]
    for caption, names in pages.by_caption().items():
        links = [
            f"* `{pages.title(name)} <{name}.rst>`__: {_plain(sentences[name])}" for name in names
        ]
        parts.append(f"{caption}\n{'-' * len(caption)}\n\n" + "\n".join(links) + "\n")
    return "\n".join(parts)


def _plain(sentence: str) -> str:
    """The sentence with the characters escaped that are markup in reStructuredText."""
    return sentence.replace("\\", r"\\").replace("*", r"\*").replace("`", r"\`").replace("_", r"\_")


def write() -> None:
    FILE.write_text(text())
