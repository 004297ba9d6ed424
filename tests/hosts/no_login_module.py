"""A host that names no login module: the stateless one is there all the same."""

from __future__ import annotations

from typing import Any


def change(settings: dict[str, Any]) -> None:
    settings["INSTALLED_APPS"].remove("authservice.stateless")
