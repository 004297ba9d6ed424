"""The values that a run must reach (gates), and those to aim for."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    """Ratios of our requests per second to the baseline's; a run below *gate* fails."""

    gate: float
    aim: float


ENDPOINTS = {
    "me": Goal(1.6, 2.2),
    "login": Goal(1.9, 3.2),
    "refresh": Goal(3.0, 4.5),
    "signup": Goal(2.5, 4.0),
}
# With the store "cache" each request also asks Redis, which the baseline does not do.
WITH_CACHE = {**ENDPOINTS, "me": Goal(1.3, 1.8), "refresh": Goal(2.3, 4.0)}
WORKER_MEGABYTES = 60
# The session module has stores of sessions, and "cache" needs a client of Redis.
FURTHER_MEGABYTES = {"session": 1, "cache": 7}
# Of the baseline's time in the same run: milliseconds differ from machine to machine.
START_RATIO = 1.6
# Of the bare hashes per second on the same cores.
ARGON2_SHARES = {"login": 0.75, "signup": 0.70}


def endpoint(name: str, login: str) -> Goal:
    """The goal of an endpoint; *login* is a value of ``--login``."""
    return (WITH_CACHE if login == "cache" else ENDPOINTS)[name]


def worker_megabytes(login: str) -> int:
    return WORKER_MEGABYTES + FURTHER_MEGABYTES.get(login, 0)
