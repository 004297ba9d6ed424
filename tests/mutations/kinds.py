"""The type of a mutation, and two helpers to write its edits."""

from __future__ import annotations

from dataclasses import dataclass

import django

CORE, HTTP = "authservice/core/", "authservice/kernel/http/"


@dataclass(frozen=True)
class Mutation:
    """`lost` names the protection that the mutation removes. `edits` are pairs of old and new text
    in `file`. Each old text must occur there `times` times (0: any number); otherwise the mutation
    no longer applies and must be rewritten for the new code. `tests` are the arguments of pytest.
    If only a race can detect the mutation, `database` is the start of the required URL. `below` is
    the first version of Django that offers the same protection itself."""

    lost: str
    file: str
    edits: tuple[tuple[str, str], ...]
    tests: tuple[str, ...]
    times: int = 1
    database: str = ""
    below: tuple[int, int] | None = None

    @property
    def name(self) -> str:
        return self.lost.lower().replace(" ", "-")

    def missing(self, address: str) -> str:
        """What the mutation requires and a run with this database URL does not have, or ""."""
        if not address.startswith(self.database):
            return f"DATABASE_URL={self.database}"
        if self.below and self.below <= django.VERSION:
            return f"Django before {'.'.join(map(str, self.below))}"
        return ""


def without(line: str) -> tuple[tuple[str, str], ...]:
    return ((line, ""),)


def to(old: str, new: str) -> tuple[tuple[str, str], ...]:
    return ((old, new),)
