"""Hosts with several databases and a router between them.

The tables of one are missing in the other, or the other stays empty, so a statement that goes to
the wrong place fails.
"""

from __future__ import annotations

from typing import Any


def add(settings: dict[str, Any], alias: str) -> None:
    """A second database of the kind that the first one is; both hold a transaction per request."""
    first = settings["DATABASES"]["default"]
    first["ATOMIC_REQUESTS"] = True
    name = str(first["NAME"])
    kept = "memory" in name
    settings["DATABASES"][alias] = {**first, "NAME": name if kept else f"{name}_{alias}"}
