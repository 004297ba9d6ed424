"""A statistical test whether two samples of durations can be distinguished."""

from __future__ import annotations

import math
from collections.abc import Sequence


def mann_whitney(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The two-sided p-value of the rank-sum test, by its normal approximation with ties (Mann and
    Whitney, 1947): the probability that two samples of the same distribution differ as much."""
    n, m = len(ours), len(theirs)
    ranks, ties = _ranks([*ours, *theirs])
    u = sum(ranks[:n]) - n * (n + 1) / 2
    spread = n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1)))
    z = max(abs(u - n * m / 2) - 0.5, 0) / math.sqrt(spread)
    return math.erfc(z / math.sqrt(2))


def _ranks(values: Sequence[float]) -> tuple[list[float], float]:
    """The rank of each value, shared by ties, and the sum of t**3 - t over the ties."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks, ties, start = [0.0] * len(values), 0.0, 0
    while start < len(order):
        end = start
        while end < len(order) and values[order[end]] == values[order[start]]:
            end += 1
        for place in order[start:end]:
            ranks[place] = (start + 1 + end) / 2
        ties += (end - start) ** 3 - (end - start)
        start = end
    return ranks, ties
