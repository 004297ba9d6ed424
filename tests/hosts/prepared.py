"""A host with Django's default database options, in which every compiled statement is prepared."""

from __future__ import annotations

from typing import Any


def change(settings: dict[str, Any]) -> None:
    settings["DATABASES"]["default"]["OPTIONS"] = {}
    settings["AUTHSERVICE"] = {**settings["AUTHSERVICE"], "PREPARED_STATEMENTS": "always"}
