"""A host whose default user manager hides inactive users."""

from __future__ import annotations

from typing import Any


def change(settings: dict[str, Any]) -> None:
    settings["INSTALLED_APPS"].append("tests.hosts.hidden_inactive")
    settings["AUTH_USER_MODEL"] = "hidden_inactive.User"
