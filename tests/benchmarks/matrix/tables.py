"""The figures as reStructuredText, which `docs/benchmarks.rst` includes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from tests.benchmarks import goals
from tests.benchmarks.matrix.measure import Memory, Sample, Samples
from tests.benchmarks.matrix.rows import Row

DASH = "–"
HEADER = (
    *("", "Requests a second", "Of ours", "Of dj-rest-auth", "p50, ms", "p99, ms"),
    *("CPU of the server, ms", "CPU of PostgreSQL, ms"),
)
TITLES = {
    "me": "GET ``/me``",
    "login": "POST ``/login``",
    "refresh": "POST ``/refresh``",
    "signup": "POST ``/signup``",
}
# A worker with the rows `six` and `all`; the REST framework adds 4 MB to the latter.
MODULES_MEGABYTES = 64


def endpoints(rows: Sequence[Row], samples: Samples, chosen: Iterable[str]) -> str:
    """One table for each endpoint, and what each row leaves out."""
    tables = [
        table((TITLES[name], *HEADER[1:]), endpoint_lines(rows, samples, name), first=28)
        for name in chosen
    ]
    omitted = table(("", "Leaves out"), [(row.title, row.leaves_out) for row in rows], first=30)
    return "\n".join([*tables, omitted])


def endpoint_lines(rows: Sequence[Row], samples: Samples, endpoint: str) -> list[tuple[str, ...]]:
    """Rows without this request are not listed."""
    return [
        line(
            row.title,
            found,
            *(samples.get((of, endpoint), []) for of in (row.reference, row.baseline)),
        )
        for row in rows
        if (found := samples.get((row.name, endpoint)))
    ]


def line(title: str, samples: list[Sample], *others: list[Sample]) -> tuple[str, ...]:
    """*others* are the runs of other rows in the same rounds, which other load affects in the same
    way."""
    rates = [sample.load.per_second for sample in samples]
    return (
        title,
        with_range(rates, 0),
        *(with_range(ratios(samples, other), 2) for other in others),
        f"{median(sample.load.p50 for sample in samples):.1f}",
        f"{median(sample.load.p99 for sample in samples):.1f}",
        f"{median(sample.server_cpu for sample in samples):.2f}",
        f"{median(sample.database_cpu for sample in samples):.2f}",
    )


def ratios(samples: list[Sample], others: list[Sample]) -> list[float]:
    return [
        mine.load.per_second / other.load.per_second
        for mine, other in zip(samples, others, strict=False)
    ]


def with_range(values: Sequence[float], digits: int) -> str:
    """The median, and the range of the rounds if they differ."""
    if not values:
        return DASH
    low, middle, high = (f"{f(values):.{digits}f}" for f in (min, median, max))
    return middle if low == high else f"{middle} ({low}-{high})"


def memory(rows: Sequence[Row], found: Memory) -> str:
    lines = [(row.title, f"{found[row.name]:.0f}", limit(row.name)) for row in rows]
    return table(("A worker", "PSS, MB", "Goal, at most"), lines, first=50)


def limit(name: str) -> str:
    limits = {"core": goals.WORKER_MEGABYTES, "six": MODULES_MEGABYTES, "all": MODULES_MEGABYTES}
    return str(limits.get(name.removesuffix("-prepared"), ""))


def table(header: Sequence[str], lines: Iterable[Sequence[str]], *, first: int) -> str:
    """A ``list-table``; *first* is the width of its first column in percent."""
    other = (100 - first) // (len(header) - 1)
    widths = " ".join(map(str, [first, *[other] * (len(header) - 1)]))
    rows = [item for cells in (header, *lines) for item in row(cells)]
    return "\n".join(
        [".. list-table::", "   :header-rows: 1", f"   :widths: {widths}", "", *rows, ""]
    )


def row(cells: Sequence[str]) -> list[str]:
    """An empty cell is a list item with nothing after its mark."""
    marks = ["*", *" " * (len(cells) - 1)]
    return [f"   {mark} - {cell}".rstrip() for mark, cell in zip(marks, cells, strict=True)]
