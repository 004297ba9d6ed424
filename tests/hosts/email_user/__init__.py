"""A host whose users have an e-mail address, a UUID as primary key, and no username or names."""

from __future__ import annotations

from typing import Any


def change(settings: dict[str, Any]) -> None:
    settings["INSTALLED_APPS"].append("tests.hosts.email_user")
    settings["AUTH_USER_MODEL"] = "email_user.User"
