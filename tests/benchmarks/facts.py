"""Further measurements besides the rates: parallel refreshes, memory, start-up time, Argon2id."""

from argparse import Namespace

from tests.benchmarks import goals, race, startup
from tests.benchmarks.argon2 import Share
from tests.benchmarks.report import Line, fact
from tests.benchmarks.servers import Server


def lines(running: list[Server], options: Namespace) -> list[Line]:
    measures = {"memory": memory_lines, "race": race_lines, "start": start_lines}
    return [
        line
        for name, lines_of in measures.items()
        if name in options.only
        for line in lines_of(running, options)
    ]


def race_lines(running: list[Server], _: Namespace) -> list[Line]:
    """Exactly one request per round must succeed."""
    won = [race.winners(server) for server in running]
    met = set(won[0]) == {1}
    label = f"served by one refresh token, of {race.TRIES} parallel tries"
    return [fact(label, *(" ".join(map(str, each)) for each in won), limit="1 each", met=met)]


def memory_lines(running: list[Server], options: Namespace) -> list[Line]:
    """The gate applies to `Pss`, which counts shared pages only in proportion."""
    used = [server.worker_memory() for server in running]
    most = goals.worker_megabytes(options.login)
    met = used[0]["Pss"] <= most
    limit = f"<= {most}"
    return [
        fact("memory per worker, resident, MB", *(f"{each['Rss']:.0f}" for each in used)),
        fact(
            "memory per worker, proportional, MB",
            *(f"{each['Pss']:.0f}" for each in used),
            limit=limit,
            met=met,
        ),
    ]


def start_lines(running: list[Server], _: Namespace) -> list[Line]:
    """The gate applies to the longer of the two times: a worker needs its URLs to answer."""
    starts = [startup.start(server.side) for server in running]
    baseline = starts[1].loaded if len(starts) > 1 else None
    met = None if baseline is None else starts[0].loaded <= goals.START_RATIO * baseline
    limit = f"<= {goals.START_RATIO} x baseline"
    return [
        fact("django.setup() beyond Django's own, ms", *(f"{each.setup:.0f}" for each in starts)),
        fact(
            "the same with the URLs loaded, ms",
            *(f"{each.loaded:.0f}" for each in starts),
            limit=limit,
            met=met,
        ),
    ]


def argon2_line(name: str, measured: Share) -> Line:
    least = goals.ARGON2_SHARES[name]
    return fact(
        f"{name} with Argon2id, share of the bare hash",
        f"{measured.share:.0%} ({measured.requests:.0f} of {measured.hashes:.0f} per s)",
        limit=f">= {least:.0%}",
        met=measured.share >= least,
    )
