"""Parts of a page in reStructuredText that a code host renders too: no directive of Sphinx."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterable, Mapping

WIDTH = 100
_KEPT = "\0"  # a space at which no line breaks
_QUOTED = re.compile(r"`+([^`]+)`+")
# Names of settings in texts that are also shown in a terminal and so have no markup.
_SETTING = re.compile(r"\b[A-Z][A-Z0-9]+(?:[._][A-Z0-9_]+|\['\w+'\])+")


def page(title: str, intro: str, entries: Iterable[str]) -> str:
    """A whole page; `intro` is reStructuredText."""
    note = ".. Written by ``python -m tests.reference``: change the code instead of this file."
    parts = (note, heading(title, "="), inspect.cleandoc(intro), *entries)
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def heading(text: str, line: str) -> str:
    return f"{text}\n{line * len(text)}"


def entry(anchor: str, title: str, body: str, line: str = "-") -> str:
    """An entry that `:ref:` and a URL can name: `anchor` is also the fragment of the URL."""
    return f".. _{anchor}:\n\n{heading(title, line)}\n\n{body}"


def anchor(*names: str) -> str:
    """The anchor of an entry, such as `setting-core-allow-signup`."""
    return re.sub(r"[^a-z0-9]+", "-", "-".join(filter(None, names)).lower())


def fields(values: Mapping[str, str]) -> str:
    """A field list: `values` are reStructuredText by name; empty ones are left out."""
    return "\n".join(_field(name, value) for name, value in values.items() if value)


def _field(name: str, value: str) -> str:
    return wrapped(value, first=f":{name}: ", rest="    ")


def paragraph(text: str) -> str:
    return wrapped(prose(text))


def wrapped(text: str, *, first: str = "", rest: str = "") -> str:
    """The text in lines that break between words, but not within a literal."""
    whole = re.sub(r"`+[^`]+`+", lambda found: found[0].replace(" ", _KEPT), text)
    lines = textwrap.fill(
        whole,
        WIDTH,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return lines.replace(_KEPT, " ")


def prose(text: str) -> str:
    """A text of the code: what it quotes and names of settings become literals."""
    parts = _QUOTED.split(" ".join(text.split()))
    # The odd parts were quoted.
    return "".join(literal(part) if at % 2 else _plain(part) for at, part in enumerate(parts))


def _plain(text: str) -> str:
    found = _SETTING.split(text)
    names = [literal(name) for name in _SETTING.findall(text)] + [""]
    return "".join(_escaped(part) + name for part, name in zip(found, names, strict=True))


def _escaped(text: str) -> str:
    return re.sub(r"([*|\\]|_(?!\w))", r"\\\1", text)


def link(text: str, target: str) -> str:
    """A link to an entry of the same page."""
    return f"`{text} <{target}_>`__"


def literal(text: str) -> str:
    return f"``{text}``"


def example(code: str) -> str:
    """A block of Python; docutils has this directive too."""
    return ".. code-block:: python\n\n" + textwrap.indent(inspect.cleandoc(code), "   ")
