"""Processes that are killed during a request, and what they stored: `python -m tests.audit.killed`.

`before` is killed between the last statement and the commit, `after` between the commit and the
response. Both are forked from one process, which has started Django and made the tables.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from typing import Any

import django
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.test import Client

from tests.snippets.project import NoMigrations

ANN = "ann@example.com"
PASSWORD = "plum tart 42 windows"


def main() -> None:
    settings.MIGRATION_MODULES = NoMigrations()  # tables from the models, which takes less time
    django.setup()
    call_command("migrate", run_syncdb=True, verbosity=0)
    # In this order, since only the second one stores anything.
    print(json.dumps({moment: _found(moment) for moment in ("before", "after")}))


def _found(moment: str) -> list[Any]:
    """The signal that ended the process, and the accounts and actions that are stored then."""
    from authservice.audit.models import Entry
    from authservice.core.models import Account

    connection.close()  # the forked process opens its own
    child = os.fork()
    if not child:
        try:
            _be_killed(moment)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    return [
        os.WTERMSIG(status),
        list(Account.objects.values_list("email", flat=True)),
        list(Entry.objects.order_by("pk").values_list("action", flat=True)),
    ]


def _be_killed(moment: str) -> None:
    client = Client()
    if moment == "before":
        connection._commit = die
    else:
        client.handler.get_response = _then_die(client)
    client.post("/auth/signup", {"email": ANN, "password": PASSWORD}, "application/json")


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
    main()
