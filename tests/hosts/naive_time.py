"""A host with naive times (`USE_TZ` is off), in a time zone 5 hours 45 minutes ahead of UTC."""

from __future__ import annotations

from typing import Any


def change(settings: dict[str, Any]) -> None:
    settings["USE_TZ"] = False
    settings["TIME_ZONE"] = "Asia/Kathmandu"
