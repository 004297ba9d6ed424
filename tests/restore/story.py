"""What users do before a backup and after a restore: `python -m tests.restore.story PART FILE`.

`before` writes what the users keep (tokens, backup codes) into the file. `after` reads it, ends all
sessions as the page on backups says, and prints the outcome of each attempt.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import django

django.setup()

from django.core.management import call_command  # noqa: E402

from tests.support.client import PASSWORD, Api  # noqa: E402
from tests.twofactor.people import Person  # noqa: E402

ANN, BOB = "ann@example.com", "bob@example.com"


def before() -> dict[str, Any]:
    call_command("migrate", verbosity=0)
    api = Api()
    ann = Person(api, ANN).sign_up().enrol()
    bob = api.sign_up(BOB)
    return {
        "codes": ann.backup_codes,
        "token": bob["access_token"],
        "refresh": bob["refresh_token"],
    }


def after(kept: dict[str, Any]) -> dict[str, Any]:
    api = Api()
    seen = {"session": api.get("me", token=kept["token"]).status}
    call_command("authservice_revoke", "--all", "--no-input", verbosity=0)
    seen["ended session"] = api.get("me", token=kept["token"]).status
    seen["refresh"] = api.post("refresh", refresh_token=kept["refresh"]).status
    seen["password"] = api.post("login", email=BOB, password=PASSWORD).data["status"]
    challenge = api.post("login", email=ANN, password=PASSWORD).data
    seen["password of two"] = challenge["status"]
    token = challenge["challenges"][0]["data"]["temp_token"]
    answer = api.post("2fa/verify-login", temp_token=token, code=kept["codes"][0])
    seen["backup code"] = answer.status
    return seen


if __name__ == "__main__":
    part, file = sys.argv[1], Path(sys.argv[2])
    if part == "before":
        file.write_text(json.dumps(before()))
    else:
        print(json.dumps(after(json.loads(file.read_text()))))
