"""Run traffic, strike again and again, then check every promise."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from random import Random

from tests.faults import traffic
from tests.faults.cache import Redis
from tests.faults.checker import contradictions
from tests.faults.cluster import DEFAULTS, PASSWORD, Cluster
from tests.faults.every_statement import cut_at_every_statement
from tests.faults.ledger import Ledger
from tests.faults.mailbox import Mailbox
from tests.faults.proxy import Proxy
from tests.faults.service import Line, Service, served
from tests.faults.world import Fault, World

_CALM = 0.5  # seconds between two strikes
_RECOVERY = 15.0  # seconds until a service that does not respond again fails the run
_MAILED = 300.0  # seconds until all mails are received; the longest pause before a retry is 256
_DISK = "160M"


class Run:
    """One service that is never restarted, its clients, and its responses."""

    def __init__(self, world: World, fault: Fault) -> None:
        self.world, self.service, self.ledger = world, world.service, Ledger()
        self._fault = fault
        self.ledger.keep_secret(PASSWORD)
        self.strikes, self.recovery = 0, 0.0
        self.cuts: dict[str, int] = {}
        self._workers = self.service.workers()
        self.clients = [
            traffic.Client(number, self.service.port, self.ledger, world.mailbox)
            for number in range(traffic.CLIENTS)
        ]

    def under_load(self, operations: int = 0, fault: Fault | None = None) -> None:
        """Strike at least once, and until at least this many operations were tried."""
        strike = (fault or self._fault).strike
        striking = True
        threads = traffic.run(self.clients, lambda: striking)
        try:
            while striking:
                time.sleep(_CALM)
                strike(self.world)
                self.strikes += 1
                self.recovery = max(self.recovery, _recovery(self.service))
                striking = len(self.ledger) < operations
        finally:
            striking = False
            for thread in threads:
                thread.join(60)

    def at_every_statement(self, *names: str, operations: int = 0) -> None:
        """Cut once at each statement, and again until at least this many operations were tried."""
        while not self.cuts or len(self.ledger) < operations:
            self.cuts = cut_at_every_statement(self.world, self.clients[0], *names)
            self.strikes += sum(self.cuts.values())

    def conclude(self) -> list[str]:
        """What breaks a promise, after the clients have asked about every session and password."""
        for thread in traffic.settle(self.clients):
            thread.join()
        for client in self.clients:
            client.close()
        if self.service.workers() != self._workers and not self._fault.kills_workers:
            self.ledger.blame("a worker process was restarted")
        if self._fault.unnoticed:
            self._check_mail()
        self._check_logs()
        return [*self.ledger.broken, *contradictions(self.world.cluster, self.ledger)]

    def _check_mail(self) -> None:
        """Nobody noticed the fault, and all mail was received in the end."""
        if failed := self.ledger.refused(503) + self.ledger.refused(0):
            self.ledger.blame(f"{failed} requests failed")
        new = {email for email, known in self.ledger.users.items() if known.sure["auth.signup"]}
        end = time.monotonic() + _MAILED
        while (lost := new - self.world.mailbox.addresses()) and time.monotonic() < end:
            time.sleep(0.5)
        if lost:
            self.ledger.blame(f"{len(lost)} of {len(new)} users received no mail")

    def _check_logs(self) -> None:
        logs = [self.service.logged]
        logs += [log.read_text(errors="replace") for log in self.world.logs()]
        for secret in self.ledger.leaked("".join(logs)):
            self.ledger.blame(f"a secret is in a log: {secret}")
        for line in _traced(self.service.logged):
            self.ledger.blame(f"a traceback is logged: {line}")

    def __str__(self) -> str:
        cuts = "".join(f", {count} cuts of {name}" for name, count in self.cuts.items())
        seen = f"{len(self.ledger)} operations, {self.strikes} strikes{cuts}"
        times = f"slowest {self.ledger.slowest:.1f} s, recovery {self.recovery:.1f} s"
        return f"{seen}: {self.ledger.summary()}; {times}"


@contextmanager
def running(fault: Fault, *, seed: int = 1, logs: Path | None = None) -> Iterator[Run]:
    """Start a database, a mail server and the service, and Redis if the fault needs it."""
    with ExitStack() as stack:
        world = stack.enter_context(_world(fault, seed))
        variables = {
            **fault.variables,
            "DATABASE_URL": world.cluster.url(world.proxy.port, DEFAULTS + fault.options),
            "EMAIL_URL": f"smtp://127.0.0.1:{world.mailbox.port}",
        }
        if fault.needs_redis:
            world.redis = Redis(world.folder)
            stack.callback(world.redis.kill)
            variables["CACHE_URL"] = f"redis://127.0.0.1:{world.redis.port}/1"
        world.service = stack.enter_context(served(world.folder, **variables))
        try:
            yield Run(world, fault)
        finally:
            if logs:
                logs.mkdir(parents=True, exist_ok=True)
                shutil.copy(world.service.log, logs)


def _recovery(service: Service) -> float:
    """Seconds until a request that needs the database succeeds."""
    began = time.monotonic()
    with closing(Line(service.port)) as line:
        while line.call("POST", "is-available", email="nobody@example.com").status != 200:
            if time.monotonic() - began > _RECOVERY:
                raise AssertionError(f"no recovery in {_RECOVERY} s:\n{service.logged[-3000:]}")
            time.sleep(0.05)
    return time.monotonic() - began


# Django writes the first after a commit, when the response does not depend on the callback that
# failed. The second is at most one entry in five seconds.
_MAY_TRACE = ("on_commit()", "authservice.flood")


def _traced(log: str) -> list[str]:
    """The first lines of entries with a traceback."""
    entries = [entry for entry in re.split(r"\n(?=20\d\d-)", log) if "Traceback" in entry]
    lines = [entry.partition("\n")[0] for entry in entries]
    return [line for line in lines if not any(text in line for text in _MAY_TRACE)]


@contextmanager
def _world(fault: Fault, seed: int) -> Iterator[World]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.chmod(0o755)
        disk = stack.enter_context(_small_disk(folder)) if fault.small_disk else None
        cluster = Cluster((disk or folder) / "primary")
        cluster.create()
        proxy = stack.enter_context(Proxy(cluster.port))
        mailbox = stack.enter_context(Mailbox())
        world = World(folder, cluster, proxy, mailbox, Random(seed), disk)
        stack.callback(lambda: world.cluster.stop())
        yield world


@contextmanager
def _small_disk(folder: Path) -> Iterator[Path]:
    """A file system of 160 MB; needs the right to mount one."""
    disk = folder / "disk"
    disk.mkdir()
    options = f"size={_DISK},mode=755"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", disk], check=True)
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", disk], check=True)
