"""Logins and sign-ups with the real Argon2id hasher, compared with the bare hash rate on the same
cores."""

from argparse import Namespace
from dataclasses import dataclass
from statistics import median

from tests.benchmarks import databases, environment, goals, load, servers, sides

HASHER = "authservice.hashers.Argon2id"


@dataclass(frozen=True)
class Share:
    """Requests per second, bare hashes per second, and the median of their ratios."""

    requests: float
    hashes: float
    share: float


def shares(options: Namespace) -> dict[str, Share]:
    """The share of each endpoint that computes a hash."""
    with databases.database(options.database_url, "argon2", keep=options.keep) as url:
        python = environment.ours(options.work_dir, modules=options.modules, login=options.login)
        side = sides.ours(url, python=python, options=options, hasher=HASHER)
        side.run("tests.benchmarks.seed")
        with servers.served(side, log=options.work_dir / "argon2.log") as server:
            return {name: share(server, name, options) for name in goals.ARGON2_SHARES}


def share(server: servers.Server, name: str, options: Namespace) -> Share:
    load.requests_per_second(server, name, seconds=1, work_dir=options.work_dir)
    pairs = [pair(server, name, options) for _ in range(options.rounds)]
    return Share(
        requests=median(requests for requests, _ in pairs),
        hashes=median(hashes for _, hashes in pairs),
        share=median(requests / hashes for requests, hashes in pairs),
    )


def pair(server: servers.Server, name: str, options: Namespace) -> tuple[float, float]:
    seconds, work_dir = options.seconds, options.work_dir
    requests = load.requests_per_second(server, name, seconds=seconds, work_dir=work_dir)
    return requests, float(server.side.run("tests.benchmarks.bare_hash", str(seconds)))
