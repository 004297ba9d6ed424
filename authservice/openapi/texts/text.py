"""The form of a text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Text:
    """`description` is Markdown, indented as in the source. `answer` is what the usual response to
    a successful request means; empty where the type of the response says it."""

    description: str
    answer: str = ""
