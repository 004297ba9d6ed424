"""Print how many passwords per second two processes verify if they do nothing else.

Run it inside one side's environment; the argument is the duration in seconds.
"""

import sys
import time
from concurrent.futures import ProcessPoolExecutor

import django
from django.contrib.auth.hashers import check_password, make_password

from tests.benchmarks import terms
from tests.benchmarks.servers import WORKERS


def main() -> None:
    seconds = float(sys.argv[1])
    with ProcessPoolExecutor(WORKERS, initializer=django.setup) as pool:
        print(sum(pool.map(checks_per_second, [seconds] * WORKERS)))


def checks_per_second(seconds: float) -> float:
    encoded = make_password(terms.PASSWORD)
    checks, started = 0, time.perf_counter()
    while time.perf_counter() < started + seconds:
        check_password(terms.PASSWORD, encoded)
        checks += 1
    return checks / (time.perf_counter() - started)


if __name__ == "__main__":
    main()
