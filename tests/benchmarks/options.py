"""The command line."""

import argparse
import tempfile
from pathlib import Path

from tests.benchmarks import goals

ADMIN_URL = "postgres://postgres@127.0.0.1:5432/postgres"
REDIS_URL = "redis://127.0.0.1:6379/4"
MEASUREMENTS = (*goals.ENDPOINTS, "race", "memory", "start")


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks",
        description="Measure the example project against dj-rest-auth with simplejwt.",
    )
    add_what(parser)
    add_where(parser)
    return parser.parse_args(arguments)


def add_what(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=positive, default=5, help="counted runs per endpoint")
    parser.add_argument("--seconds", type=positive, default=5, help="length of a run")
    parser.add_argument(
        "--only",
        type=measurements,
        default=list(MEASUREMENTS),
        metavar="NAME,…",
        help=f"some of {', '.join(MEASUREMENTS)}",
    )
    parser.add_argument("--ours-only", action="store_true", help="no baseline and no ratios")
    parser.add_argument("--argon2", action="store_true", help="also log in with real Argon2id")
    parser.add_argument(
        "--modules", default="", help="AUTHSERVICE_MODULES of the example project (none)"
    )
    parser.add_argument(
        "--login",
        choices=("stateless", "session", "cache"),
        default="stateless",
        help="login module of the example project; cache is session with the store on --redis-url",
    )
    parser.add_argument(
        "--no-baseline-sessions",
        action="store_true",
        help="turn SESSION_LOGIN, on by default in dj-rest-auth, off",
    )


def add_where(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--database-url", default=ADMIN_URL, help="server on which to create the databases"
    )
    parser.add_argument(
        "--work-dir",
        type=Path,
        default=Path(tempfile.gettempdir()) / "authservice-benchmarks",
        help="keeps the baseline's virtual environment",
    )
    parser.add_argument("--redis-url", default=REDIS_URL, help="Redis that caches the sessions")
    parser.add_argument("--keep", action="store_true", help="keep the databases and reuse them")


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def measurements(text: str) -> list[str]:
    names = text.split(",")
    unknown = [name for name in names if name not in MEASUREMENTS]
    if unknown:
        choice = ", ".join(MEASUREMENTS)
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: not among {choice}")
    return names
