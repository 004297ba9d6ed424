"""Faults of the database. Each `strike` makes one, waits, and repairs it."""

from __future__ import annotations

import time
from contextlib import ExitStack, suppress

import psycopg

from tests.faults.cluster import OTHERS, TERMINATE, Cluster
from tests.faults.proxy import AFTER, BEFORE
from tests.faults.world import AWAY, Fault, World

_CUT = 1 / 150  # of the statements, at random
_TABLES = ("authservice_core_session", "auth_user", "authservice_audit_entry")


def stopped(world: World) -> None:
    mode = world.random.choice(["fast", "immediate"])
    world.cluster.stop(mode)
    time.sleep(AWAY)
    world.cluster.start()


def terminated(world: World) -> None:
    for _ in range(8):
        world.cluster.terminate()
        time.sleep(AWAY / 8)


def cut(world: World) -> None:
    choices = world.random

    def decide(_: int) -> str:
        return choices.choice([BEFORE, AFTER]) if choices.random() < _CUT else ""

    world.proxy.watch(decide)
    time.sleep(2 * AWAY)
    world.proxy.watch()


def locked(world: World) -> None:
    """A migration, or a session in a shell, holds a lock that the service waits for."""
    for table in _TABLES:
        with world.cluster.connect() as other, other.transaction():
            other.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")  # type: ignore[call-overload]
            time.sleep(AWAY / 2)


def crowded(world: World) -> None:
    """Other clients take every connection that the service had or could have."""
    url = world.cluster.url().partition("?")[0]
    end = time.monotonic() + 2 * AWAY
    with ExitStack() as taken, world.cluster.connect() as superuser:
        while time.monotonic() < end:
            try:
                other = psycopg.connect(url, application_name=OTHERS)
            except psycopg.OperationalError:
                superuser.execute(TERMINATE)
            else:
                taken.callback(other.close)


def read_only(world: World) -> None:
    world.cluster.alter(default_transaction_read_only="on")
    time.sleep(AWAY)
    world.cluster.alter(default_transaction_read_only="off")


def full(world: World) -> None:
    """The disk is full. The server may crash, and then has to be started after the repair."""
    assert world.disk is not None
    filler = world.disk / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(1 << 16))
    # Without this, sign-ups would fit into free space of pages for a long time.
    time.sleep(2 * AWAY)
    filler.unlink()
    with suppress(psycopg.OperationalError):
        world.cluster.run("SELECT 1")
        return
    time.sleep(1)
    if not world.cluster.running:
        world.cluster.start()
    world.cluster.run("SELECT 1")


def failed_over(world: World) -> None:
    """The primary crashes, and its standby takes over at the same address."""
    old, standby = world.cluster, Cluster(world.folder / f"standby-{time.monotonic_ns()}")
    standby.copy_of(old)
    time.sleep(AWAY)
    old.stop("immediate")
    world.proxy.drop()
    time.sleep(AWAY / 2)
    standby.promote()
    standby.alter(synchronous_standby_names="")
    world.cluster, world.proxy.target = standby, standby.port


_TIMEOUTS = "&options=-c statement_timeout=400 -c lock_timeout=300"
FAULTS = {
    "stopped": Fault(stopped),
    "terminated": Fault(terminated),
    "cut": Fault(cut),
    "locked": Fault(locked, options=_TIMEOUTS),
    "crowded": Fault(crowded),
    "read-only": Fault(read_only),
    "full": Fault(full, small_disk=True),
    "failed-over": Fault(failed_over),
}
