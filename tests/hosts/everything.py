"""A host that installs every module of the package."""

from __future__ import annotations

from typing import Any

from tests.hosts.shipped import everything, replace


def change(settings: dict[str, Any]) -> None:
    settings["INSTALLED_APPS"] = replace(settings["INSTALLED_APPS"], everything())
    # Sessions of the session module are used for providers too; otherwise a check warns.
    settings["AUTHSERVICE"]["OAUTH"] = {"USE_SESSION_AUTH": True}
    # Otherwise a check warns of the mail server that Django assumes.
    settings.setdefault("EMAIL_HOST", "mail.example.com")
