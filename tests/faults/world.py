"""The servers of a run, and what a fault is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tests.faults.cluster import Cluster
from tests.faults.mailbox import Mailbox
from tests.faults.proxy import Proxy

AWAY = 1.5  # seconds that most faults last


@dataclass
class World:
    """`cluster` is the database server that the service uses at the moment."""

    folder: Path
    cluster: Cluster
    proxy: Proxy
    mailbox: Mailbox
    random: Random
    disk: Path | None = None
    service: Any = None
    redis: Any = None

    def logs(self) -> list[Path]:
        """The logs of all database servers of the run."""
        return sorted({self.cluster.log, *self.folder.glob("*/postgresql.log")})


@dataclass(frozen=True)
class Fault:
    """`strike` makes a fault, waits, and repairs it.

    `options` are added to the service's `DATABASE_URL`, `variables` to its environment. If
    `unnoticed`, no request may fail; all mail must arrive in the end.
    """

    strike: Callable[[World], None]
    options: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    small_disk: bool = False
    needs_redis: bool = False
    kills_workers: bool = False
    unnoticed: bool = False
