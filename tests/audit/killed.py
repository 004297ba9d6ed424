"""A process that is killed during a request: `python -m tests.audit.killed MOMENT`.

`after` is between the commit and the response, `before` between the last statement and the
commit.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

import django
from django.core.management import call_command
from django.db import connection
from django.test import Client

ANN = "ann@example.com"
PASSWORD = "plum tart 42 windows"


def main(moment: str) -> None:
    django.setup()
    call_command("migrate", verbosity=0)
    client = Client()
    if moment == "before":
        connection._commit = die
    else:
        client.handler.get_response = _then_die(client)
    client.post("/auth/signup", {"email": ANN, "password": PASSWORD}, "application/json")
    raise AssertionError("still alive")


def _then_die(client: Client) -> Callable[[Any], Any]:
    client.handler.load_middleware()
    answer = client.handler.get_response

    def respond(request: Any) -> Any:
        assert answer(request).status_code == 201
        die()

    return respond


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1])
