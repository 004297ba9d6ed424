"""A host whose users have a UUID as primary key."""

from __future__ import annotations

from typing import Any


def change(settings: dict[str, Any]) -> None:
    settings["INSTALLED_APPS"].append("tests.hosts.uuid_user")
    settings["AUTH_USER_MODEL"] = "uuid_user.User"
