"""Numbers with their nouns in the output of commands, which is in English only."""

from __future__ import annotations


def counted(number: int, singular: str, plural: str = "") -> str:
    """Such as "1 user" and "2 users"; `plural` is for nouns that do not end in "s" alone."""
    return f"{number} {singular if number == 1 else plural or singular + 's'}"


def was(number: int) -> str:
    return "was" if number == 1 else "were"
