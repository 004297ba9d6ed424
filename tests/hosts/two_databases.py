"""A host that stores its users and authservice in one database and the rest in another."""

from __future__ import annotations

from typing import Any

from tests.hosts.databases import add


def change(settings: dict[str, Any]) -> None:
    add(settings, "people")
    settings["INSTALLED_APPS"].append("django.contrib.sessions")
    settings["DATABASE_ROUTERS"] = ["tests.hosts.databases.routers.SeparateDatabases"]
