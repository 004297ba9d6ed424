"""A host that installs no login module: the stateless one is used by default."""

from __future__ import annotations

from typing import Any


def change(settings: dict[str, Any]) -> None:
    settings["INSTALLED_APPS"].remove("authservice.stateless")
