"""`python -m tests.benchmarks.audit_cleanup`: a cleanup of many audit entries beside logins.

Fills the log of a service with expired entries, sends logins at a fixed rate, first alone, then
while `authservice_audit_cleanup` deletes them. With `--partitions`, the entries are in a month of
their own, and `authservice_audit_partitions` drops it instead. Exits with 1 if a login failed.
"""

from __future__ import annotations

import http.client
import subprocess
import sys
import threading
import time
from argparse import ArgumentParser, Namespace
from statistics import quantiles

from tests.benchmarks import databases, environment, options, servers, sides, terms
from tests.benchmarks.threaded import served

# Adds the entries; all are two years old, so that they are expired.
_FILL = (
    "import django; django.setup(); from datetime import datetime, timedelta, UTC;"
    " from tests.benchmarks.audit_seed import fill;"
    " fill({rows}, until=datetime.now(UTC) - timedelta(days=730))"
)
# The conversion of two years ago: the entries are in a partition that ends before today.
_CONVERT = (
    "import django; django.setup(); from datetime import datetime, timedelta, UTC;"
    " import time_machine; from authservice.audit import conversion, partitions;"
    " traveller = time_machine.travel(datetime.now(UTC) - timedelta(days=700)); traveller.start();"
    " conversion.convert(); traveller.stop(); partitions.extend(3)"
)
CLIENTS = 8


class Logins:
    """Logins at a fixed rate by several clients, until the end of the block."""

    def __init__(self, port: int, rate: int) -> None:
        self.port, self.rate = port, rate
        self.times: list[float] = []
        self.failed: list[int] = []

    def __enter__(self) -> Logins:
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._send, args=(n,)) for n in range(CLIENTS)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _send(self, client: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        wire, number = sides.wires.OURS, client
        due = time.perf_counter() + client / self.rate
        while not self._over.is_set():
            time.sleep(max(0.0, due - time.perf_counter()))
            body = wire.login_as(number % terms.USERS)
            connection.request("POST", wire.login, body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            self.times.append((time.perf_counter() - due) * 1000)
            if answer.status != 200:
                self.failed.append(answer.status)
            number += CLIENTS
            due += CLIENTS / self.rate

    def report(self, label: str, seconds: float) -> None:
        cuts = quantiles(self.times, n=100)
        print(
            f"{label}: {len(self.times)} logins in {seconds:.0f} s,"
            f" p50 {cuts[49]:.1f} ms, p99 {cuts[98]:.1f} ms, {len(self.failed)} failed"
        )


def main() -> int:
    parser = ArgumentParser(prog="python -m tests.benchmarks.audit_cleanup")
    parser.add_argument("--rows", type=options.positive, default=5_000_000)
    parser.add_argument("--rate", type=options.positive, default=50, help="logins a second")
    parser.add_argument("--seconds", type=options.positive, default=20, help="of logins alone")
    parser.add_argument("--partitions", action="store_true", help="drop a month instead")
    options.add_where(parser)
    chosen = parser.parse_args()
    chosen.modules, chosen.login = "audit", "stateless"
    chosen.work_dir.mkdir(parents=True, exist_ok=True)
    with databases.database(chosen.database_url, "audit_cleanup", keep=chosen.keep) as url:
        python = environment.ours(chosen.work_dir, modules=chosen.modules)
        side = sides.ours(url, python=python, options=chosen)
        side.run("tests.benchmarks.seed")
        program = _FILL.format(rows=chosen.rows)
        for code in [program, _CONVERT] if chosen.partitions else [program]:
            subprocess.run(
                [sys.executable, "-c", code], cwd=environment.ROOT, env=side.environment, check=True
            )
        with served(side, chosen.work_dir / "audit_cleanup.log") as server:
            return report(server, side, chosen)


def report(server: servers.Server, side: sides.Side, chosen: Namespace) -> int:
    with Logins(server.port, chosen.rate) as alone:
        time.sleep(chosen.seconds)
    alone.report("alone", chosen.seconds)
    command = "authservice_audit_" + ("partitions" if chosen.partitions else "cleanup")
    begun = time.perf_counter()
    with Logins(server.port, chosen.rate) as beside:
        print(side.run("django", command, "--skip-checks").strip())
        taken = time.perf_counter() - begun
        time.sleep(1)
    beside.report(f"beside {command}", taken)
    print(f"{command}: {taken:.1f} s, {chosen.rows / taken:.0f} entries a second")
    return int(bool(alone.failed or beside.failed))


if __name__ == "__main__":
    sys.exit(main())
