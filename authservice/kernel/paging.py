"""The requested page of a list, for code outside the HTTP layer."""

from __future__ import annotations

from collections.abc import Callable, Sized
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Page:
    """The requested part of a list and its sort order."""

    offset: int
    limit: int
    sort_field: str
    sort_dir: str

    def order(self, column: str = "", *, tie: str = "pk") -> tuple[str, ...]:
        """Arguments for `order_by`. `column` is the lookup of `sort_field`, if it has another name.
        Ties are ordered by `tie` in the same direction, so that pages never overlap and one index
        serves both columns."""
        sign = "-" if self.sort_dir == "desc" else ""
        return f"{sign}{column or self.sort_field}", f"{sign}{tie}"

    def cut(self, rows: Any) -> Any:
        return rows[self.offset : self.offset + self.limit]

    def total(self, rows: Sized, count: Callable[[], int]) -> int:
        """How many rows all pages have; counts only if the `rows` of this page do not tell."""
        if len(rows) < self.limit and (len(rows) or not self.offset):
            return self.offset + len(rows)
        return count()
