"""Print the figures as a table."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median

from tests.benchmarks.goals import Goal

DASH = "-"


@dataclass(frozen=True)
class Line:
    """One row: its cells, and whether it meets its goal (`None`: there is no goal)."""

    cells: tuple[str, ...]
    met: bool | None = None


@dataclass
class Report:
    endpoints: list[Line] = field(default_factory=list)
    facts: list[Line] = field(default_factory=list)

    @property
    def missed(self) -> bool:
        return any(line.met is False for line in (*self.endpoints, *self.facts))

    def text(self) -> str:
        parts = (table(ENDPOINT_HEADER, self.endpoints), table(FACT_HEADER, self.facts))
        return "\n".join(part for part in parts if part)


ENDPOINT_HEADER = (
    *("endpoint", "ours rps", "baseline rps", "ratio", "min-max", "gate", "aim"),
    *("SQL", "baseline SQL", "verdict"),
)
FACT_HEADER = ("", "ours", "baseline", "limit", "verdict")


def endpoint(
    name: str, goal: Goal, rates: dict[str, list[float]], statements: dict[str, int]
) -> Line:
    """A row of rates; *rates* and *statements* are keyed by side; the baseline may be missing."""
    ratios = [a / b for a, b in zip(rates["ours"], rates.get("baseline", ()), strict=False)]
    ratio = median(ratios) if ratios else None
    met = None if ratio is None else ratio >= goal.gate
    verdict = "aim" if ratio is not None and ratio >= goal.aim else word(met, "below")
    cells = (
        *(name, whole(rates.get("ours")), whole(rates.get("baseline"))),
        *(DASH if ratio is None else f"{ratio:.2f}", spread(ratios)),
        *(f"{goal.gate:g}", f"{goal.aim:g}"),
        *(str(statements.get(side, DASH)) for side in ("ours", "baseline")),
        verdict,
    )
    return Line(cells, met)


def fact(
    label: str, ours: str, baseline: str = DASH, *, limit: str = "", met: bool | None = None
) -> Line:
    return Line((label, ours, baseline, limit, word(met, "missed")), met)


def word(met: bool | None, failure: str) -> str:
    return {True: "ok", False: failure, None: ""}[met]


def whole(rates: list[float] | None) -> str:
    return f"{median(rates):.0f}" if rates else DASH


def spread(ratios: list[float]) -> str:
    return f"{min(ratios):.2f}-{max(ratios):.2f}" if ratios else DASH


def table(header: tuple[str, ...], lines: Iterable[Line]) -> str:
    """Columns as wide as their widest cell, the first one left-aligned. Empty without lines."""
    rows = [line.cells for line in lines]
    if not rows:
        return ""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    return "\n".join([*(row_text(row, widths) for row in (header, *rows)), ""])


def row_text(cells: tuple[str, ...], widths: list[int]) -> str:
    first = cells[0].ljust(widths[0])
    others = (cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))
    return "  ".join([first, *others]).rstrip()
