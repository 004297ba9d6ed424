"""A host that the server mounts below `/app`, without `APPEND_SLASH`."""

from __future__ import annotations

from typing import Any


def change(settings: dict[str, Any]) -> None:
    settings.update(
        APPEND_SLASH=False,
        AUTHSERVICE={"API_URL": "http://testserver/app"},
        FORCE_SCRIPT_NAME="/app",
    )
