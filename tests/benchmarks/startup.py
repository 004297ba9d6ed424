"""Start-up time in addition to Django's own."""

from dataclasses import dataclass
from statistics import median

from tests.benchmarks.sides import Side

PROCESSES = 7


@dataclass(frozen=True)
class Start:
    """Milliseconds in addition to Django's: ``django.setup()`` alone, and with the URLconf."""

    setup: float
    loaded: float


def start(side: Side) -> Start:
    """Medians over new processes, alternately with and without *side*'s apps."""
    probe(side)
    pairs = [(probe(side), probe(side, "bare")) for _ in range(PROCESSES)]
    return Start(
        setup=median(full[0] - bare[0] for full, bare in pairs),
        loaded=median(full[1] - bare[1] for full, bare in pairs),
    )


def probe(side: Side, *arguments: str) -> tuple[float, float]:
    setup, loaded = side.run("tests.benchmarks.startup_probe", *arguments).split()
    return float(setup), float(loaded)
