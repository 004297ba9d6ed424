"""A host whose users have a number and a password, but no address, active flag, name or date."""

from __future__ import annotations

from typing import Any


def change(settings: dict[str, Any]) -> None:
    settings["INSTALLED_APPS"].append("tests.hosts.bare_user")
    settings["AUTH_USER_MODEL"] = "bare_user.User"
