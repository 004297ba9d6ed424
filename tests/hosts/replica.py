"""A host that reads from a replica during requests; the replica never receives any rows."""

from __future__ import annotations

from typing import Any

from tests.hosts.databases import add


def change(settings: dict[str, Any]) -> None:
    add(settings, "replica")
    settings["MIDDLEWARE"].insert(0, "tests.hosts.databases.routers.Request")
    settings["DATABASE_ROUTERS"] = ["tests.hosts.databases.routers.EmptyReplica"]
