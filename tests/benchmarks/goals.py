"""The values that a run must reach (gates), and those to aim for."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    """Ratios of our requests per second to the baseline's; a run below *gate* fails."""

    gate: float
    aim: float


ENDPOINTS = {
    "me": Goal(1.5, 2.2),
    "login": Goal(2.2, 3.2),
    "refresh": Goal(2.3, 4.0),
    "signup": Goal(2.5, 4.0),
}
WORKER_MEGABYTES = 60
START_MILLISECONDS = 300
ARGON2_SHARE = 0.75
