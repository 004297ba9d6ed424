"""A host that installs every module of the package. The environment variable `LOGIN` names the
login module."""

from __future__ import annotations

import os
from typing import Any

from tests.hosts.shipped import everything, replace

LOGIN = os.environ.get("LOGIN", "session")


def change(settings: dict[str, Any]) -> None:
    settings["INSTALLED_APPS"] = replace(settings["INSTALLED_APPS"], everything(LOGIN))
    # Sessions of the session module are used for providers too; otherwise a check warns.
    settings["AUTHSERVICE"]["OAUTH"] = {"USE_SESSION_AUTH": LOGIN == "session"}
    # Otherwise a check warns of the mail server that Django assumes. Django 6.1 refuses the setting
    # beside MAILERS.
    if "MAILERS" not in settings:
        settings.setdefault("EMAIL_HOST", "mail.example.com")
