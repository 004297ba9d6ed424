"""Logins with the real Argon2id hasher, compared with the bare hash rate on the same cores."""

from argparse import Namespace
from dataclasses import dataclass
from statistics import median

from tests.benchmarks import databases, environment, load, servers, sides

HASHER = "authservice.hashers.Argon2id"


@dataclass(frozen=True)
class Share:
    """Logins per second, bare hashes per second, and the median of their ratios."""

    logins: float
    hashes: float
    share: float


def share(options: Namespace) -> Share:
    with databases.database(options.database_url, "argon2", keep=options.keep) as url:
        python = environment.ours(options.work_dir, modules=options.modules, login=options.login)
        side = sides.ours(url, python=python, options=options, hasher=HASHER)
        side.run("tests.benchmarks.seed")
        with servers.served(side, log=options.work_dir / "argon2.log") as server:
            load.requests_per_second(server, "login", seconds=1, work_dir=options.work_dir)
            pairs = [pair(server, options) for _ in range(options.rounds)]
    return Share(
        logins=median(logins for logins, _ in pairs),
        hashes=median(hashes for _, hashes in pairs),
        share=median(logins / hashes for logins, hashes in pairs),
    )


def pair(server: servers.Server, options: Namespace) -> tuple[float, float]:
    seconds, work_dir = options.seconds, options.work_dir
    logins = load.requests_per_second(server, "login", seconds=seconds, work_dir=work_dir)
    return logins, float(server.side.run("tests.benchmarks.bare_hash", str(seconds)))
