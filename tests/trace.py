"""``python -m tests.trace``: the number of files and calls of authservice that a request uses.

Traces GET ``/me`` and a login with a second factor, in the host of the tests, on an SQLite file.
Each is traced at its third run, when caches are filled. ``--list`` also prints the calls per file.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import django
import pyotp
import time_machine
from django.core.management import call_command
from django.test import Client

PASSWORD = "plum tart 42 windows"
# The decorators that check where a function is called.
ASSERTIONS = ("kernel/transactions.py", ("call", "is_open"))
SOURCES = str(Path(__file__).parents[1] / "authservice") + os.sep


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DATABASE_URL"] = f"sqlite:///{folder}/trace.sqlite3"
        os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
        os.environ["AUTHSERVICE_CHECK_TRANSACTIONS"] = ""  # a check is a call of its own
        django.setup()
        call_command("migrate", verbosity=0)
        for name, request in requests().items():
            calls = warm(request)
            print(f"{name}: {len(calls)} files, {calls.total()} calls")
            if "--list" in sys.argv:
                for file, number in calls.most_common():
                    print(f"  {number:4} {file}")
    return 0


def requests() -> dict[str, Callable[[], None]]:
    """The requests by name; a login with a second factor consists of two requests."""
    # It receives the signal of a login, in a project that uses it in its views.
    import_module("authservice.core.api.identity")
    ann, bob = sign_up("ann@example.com"), sign_up("bob@example.com")
    app = pyotp.TOTP(ask("2fa/setup", {}, bob)["secret"])
    ask("2fa/verify", {"code": app.now()}, bob)

    def me() -> None:
        ask("me", None, ann)

    def login() -> None:
        # A code is valid once, so each login takes place 30 seconds later.
        with time_machine.travel(time.time() + 30 * next(steps)):
            first = ask("login", {"email": "bob@example.com", "password": PASSWORD})
            (challenge,) = first["challenges"]
            token = challenge["data"]["temp_token"]
            ask("2fa/verify-login", {"temp_token": token, "code": app.now()})

    steps = count(2)
    return {"GET /me": me, "login with a second factor": login}


def sign_up(email: str) -> str:
    """Sign up a new user; returns the access token."""
    return ask("signup", {"email": email, "password": PASSWORD})["access_token"]


def ask(path: str, body: dict[str, str] | None, token: str = "") -> Any:
    """`data` of the response to a POST, or to a GET if there is no body."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    client = Client(headers=headers)
    where = f"/auth/{path}"
    answer = (
        client.get(where)
        if body is None
        else client.post(where, body, content_type="application/json")
    )
    assert answer.status_code in (200, 201), answer.content
    return answer.json()["data"]


def warm(request: Callable[[], object]) -> Counter[str]:
    """The calls of the third run, when caches are filled."""
    request()
    request()
    return traced(request)


def traced(request: Callable[[], object]) -> Counter[str]:
    """Calls of authservice by file, without comprehensions, lambdas, class bodies, and what only
    runs under test."""
    calls: Counter[str] = Counter()

    def profile(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(SOURCES) and code.co_name[0] != "<":
            file = code.co_filename.removeprefix(SOURCES)
            if file != ASSERTIONS[0] or code.co_name not in ASSERTIONS[1]:
                calls[file] += 1

    sys.setprofile(profile)
    try:
        request()
    finally:
        sys.setprofile(None)
    return calls


if __name__ == "__main__":
    sys.exit(main())
