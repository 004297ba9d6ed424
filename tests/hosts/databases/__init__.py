"""Hosts with several databases and a router between them.

Tables of one database are missing or empty in the other, so a statement on the wrong database
fails.
"""

from __future__ import annotations

from typing import Any


def add(settings: dict[str, Any], alias: str) -> None:
    """Add a second database of the same kind as the first; both use `ATOMIC_REQUESTS`."""
    first = settings["DATABASES"]["default"]
    first["ATOMIC_REQUESTS"] = True
    name = str(first["NAME"])
    in_memory = "memory" in name
    settings["DATABASES"][alias] = {**first, "NAME": name if in_memory else f"{name}_{alias}"}
