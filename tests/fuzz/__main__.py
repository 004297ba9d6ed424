"""`python -m tests.fuzz --minutes 10` runs the tests of this folder with random examples, again and
again until the time is over or a test fails. `-k` and other arguments are passed on to pytest.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from argparse import ArgumentParser
from pathlib import Path

from tests.fuzz.generated import EXAMPLES

_FOLDER = Path(__file__).resolve().parent


def main() -> None:
    parser = ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--examples", default="500", help="of each test in one round")
    chosen, rest = parser.parse_known_args()
    ends, rounds = time.monotonic() + 60 * chosen.minutes, 0
    command = [sys.executable, "-m", "pytest", "-q", str(_FOLDER), *rest]
    environment = {**os.environ, EXAMPLES: chosen.examples}
    while time.monotonic() < ends:
        if subprocess.run(command, env=environment, check=False).returncode:
            sys.exit(1)
        rounds += 1
    print(f"{rounds} rounds of {chosen.examples} examples for each test, no findings")


if __name__ == "__main__":
    main()
