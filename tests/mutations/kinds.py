"""What a mutation is, and the two ways to write one."""

from __future__ import annotations

from dataclasses import dataclass

CORE, HTTP = "authservice/core/", "authservice/kernel/http/"


@dataclass(frozen=True)
class Mutation:
    """Named for what would be lost. `edits` are pairs of text in `file`; each old text must stand
    there `times` times (0: any number), or the mutation does not apply any more and has to be
    written anew, for the line that took its place. `tests` are what is given to pytest. What only
    a race can show names the `database` it needs, as the address of one begins."""

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
        """Whether a database at this address is what it needs."""
        return address.startswith(self.database)


def without(line: str) -> tuple[tuple[str, str], ...]:
    return ((line, ""),)


def to(old: str, new: str) -> tuple[tuple[str, str], ...]:
    return ((old, new),)
