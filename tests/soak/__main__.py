"""`python -m tests.soak --minutes 30`: mixed traffic at a part of what the machine can do.

Starts PostgreSQL, a mail server and the example project with all modules, the session module or the
stateless one, and the real password hash. Eight clients sign up, log in, refresh, log out, change
and reset passwords; expired rows are deleted and signing keys rotated meanwhile. Prints a line a
minute, and exits with 1 if a request failed or a figure grew.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

from tests.faults import traffic
from tests.faults.runs import Run, running
from tests.faults.service import SECRET_KEY
from tests.faults.world import Fault
from tests.hosts.runs import ROOT
from tests.soak.figures import Figures, Probe, grown
from tests.support import processes

_MEASURED = 20  # seconds of full load at the start
_CLEANUPS = (
    ("authservice_cleanup", "--keep-days", "0"),
    ("authservice_audit_cleanup",),
)
_BETWEEN = 60  # seconds between two cleanups


def main() -> int:
    parser = ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=int, default=30)
    parser.add_argument("--load", type=float, default=0.7, help="part of the highest rate (0.7)")
    parser.add_argument("--login", choices=("stateless", "session"), default="stateless")
    chosen = parser.parse_args()
    with TemporaryDirectory() as folder:
        keys = Path(folder, "keys.json")
        variables = {
            "DJANGO_SETTINGS_MODULE": "tests.soak.settings",
            "SIGNING_KEYS_FILE": str(keys),
            "AUTHSERVICE_LOGIN": chosen.login,
        }
        _new_key(keys)
        fault = Fault(print, variables=variables, kills_workers=True)
        with running(fault) as run:
            return _soak(run, chosen, keys, variables)


def _soak(run: Run, chosen: Namespace, keys: Path, variables: dict[str, str]) -> int:
    commands = Commands(run, variables)
    rate = chosen.load * _highest_rate(run)
    print(f"{rate:.0f} operations a second, {chosen.load:.0%} of the highest rate", flush=True)
    going = [True]
    threads = [*_paced(run, rate, going), Thread(target=commands.repeat, args=(going,))]
    threads[-1].start()
    lines = []
    try:
        with Probe(run.service.port) as probe:
            for minute in range(1, chosen.minutes + 1):
                time.sleep(60)
                lines.append(Figures.now(run, probe))
                print(f"{minute:4} {lines[-1]}", flush=True)
                if minute in (chosen.minutes // 3, chosen.minutes * 2 // 3):
                    _rotate(run, keys)
    finally:
        going[0] = False
        for thread in threads:
            thread.join()
    last = lines[chosen.minutes * 2 // 3 + 1 :]  # of the same worker processes, without their start
    wrong = [*run.ledger.broken, *commands.failed, *probe.failed, *grown(last)]
    failed = run.ledger.refused(0) + run.ledger.refused(503)
    print(f"{len(run.ledger)} operations: {run.ledger.summary()}", *wrong[:20], sep="\n")
    return int(bool(wrong or failed))


def _highest_rate(run: Run) -> float:
    """Operations a second of clients that never pause."""
    going = True
    threads = traffic.run(run.clients, lambda: going)
    time.sleep(_MEASURED)
    going = False
    for thread in threads:
        thread.join(60)
    return len(run.ledger) / _MEASURED


def _paced(run: Run, rate: float, going: list[bool]) -> list[Thread]:
    def work(client: traffic.Client) -> None:
        due = time.monotonic()
        while going[0]:
            client.step()
            due = max(due + len(run.clients) / rate, time.monotonic() - 1)
            time.sleep(max(0.0, due - time.monotonic()))

    threads = [Thread(target=work, args=(client,), daemon=True) for client in run.clients]
    for thread in threads:
        thread.start()
    return threads


class Commands:
    """The commands that a project runs by cron."""

    def __init__(self, run: Run, variables: dict[str, str]) -> None:
        self.failed: list[str] = []
        self._environment = processes.environment(
            DATABASE_URL=run.world.cluster.url(), SECRET_KEY=SECRET_KEY, DEBUG="0", **variables
        )

    def repeat(self, going: list[bool]) -> None:
        while going[0]:
            for command in _CLEANUPS:
                self._manage(*command)
            end = time.monotonic() + _BETWEEN
            while going[0] and time.monotonic() < end:
                time.sleep(0.5)

    def _manage(self, *command: str) -> None:
        program = [sys.executable, "example_project/manage.py", *command, "--skip-checks"]
        done = subprocess.run(
            program, cwd=ROOT, env=self._environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            self.failed.append(f"{command[0]}: {done.stderr[-300:]}")


def _new_key(keys: Path) -> None:
    """The file gets an active key, and another one that comes next."""
    for _ in range(2):
        _keys("generate", keys=keys)


def _rotate(run: Run, keys: Path) -> None:
    """The next key signs from now on; the server starts workers that know a newer one."""
    _keys("rotate", "--generate", "--force", keys=keys)
    os.kill(run.service.process.pid, signal.SIGHUP)


def _keys(step: str, *options: str, keys: Path) -> None:
    command = ["authservice_keys", step, "--file", str(keys), *options]
    environment = processes.environment(DJANGO_SETTINGS_MODULE="example_project.settings")
    subprocess.run(
        [sys.executable, "example_project/manage.py", *command],
        cwd=ROOT,
        env=environment,
        check=True,
    )


if __name__ == "__main__":
    sys.exit(main())
