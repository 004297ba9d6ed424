"""Which part of a list is wanted, as rules are told it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Page:
    """Which part of a list is asked for, in which order."""

    offset: int
    limit: int
    sort_field: str
    sort_dir: str

    def order(self, column: str = "", *, tie: str = "pk") -> tuple[str, ...]:
        """Arguments of `order_by`; ties break on `tie`, in the same direction, so that pages never
        overlap and one index serves both. `column` is the look-up of `sort_field`."""
        sign = "-" if self.sort_dir == "desc" else ""
        return f"{sign}{column or self.sort_field}", f"{sign}{tie}"

    def cut(self, rows: Any) -> Any:
        return rows[self.offset : self.offset + self.limit]
