"""`python -m tests.fuzz.api --minutes 10 --login session` sends generated requests to every route.

It runs `tests.openapi.fuzz`, or with `--follow` `tests.openapi.follow`, in a host with every module
and one of the two login modules, on the database that `DATABASE_URL` names or on SQLite in memory.
Other arguments are passed on.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser

from tests.hosts.shipped import LOGIN


def main() -> None:
    parser = ArgumentParser(prog="python -m tests.fuzz.api")
    parser.add_argument("--login", choices=LOGIN, default="session", help="the login module")
    parser.add_argument(
        "--follow", action="store_true", help="follow each link of the description once instead"
    )
    chosen, rest = parser.parse_known_args()
    environment = {
        "DATABASE_URL": "sqlite://:memory:",
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "TEST_HOST": "everything",
        "LOGIN": chosen.login,
    }
    program = "tests.openapi.follow" if chosen.follow else "tests.openapi.fuzz"
    os.execve(sys.executable, [sys.executable, "-m", program, *rest], environment)


if __name__ == "__main__":
    main()
