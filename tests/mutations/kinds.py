"""The type of a mutation, and two helpers to write its edits."""

from __future__ import annotations

from dataclasses import dataclass

CORE, HTTP = "authservice/core/", "authservice/kernel/http/"


@dataclass(frozen=True)
class Mutation:
    """`lost` names the protection that the mutation removes. `edits` are pairs of old and new text
    in `file`. Each old text must occur there `times` times (0: any number); otherwise the mutation
    no longer applies and must be rewritten for the new code. `tests` are the arguments of pytest.
    If only a race can detect the mutation, `database` is the start of the required URL."""

    lost: str
    file: str
    edits: tuple[tuple[str, str], ...]
    tests: tuple[str, ...]
    times: int = 1
    database: str = ""

    @property
    def name(self) -> str:
        return self.lost.lower().replace(" ", "-")

    def fits(self, address: str) -> bool:
        """Whether a database with this URL is of the kind that the mutation requires."""
        return address.startswith(self.database)


def without(line: str) -> tuple[tuple[str, str], ...]:
    return ((line, ""),)


def to(old: str, new: str) -> tuple[tuple[str, str], ...]:
    return ((old, new),)
