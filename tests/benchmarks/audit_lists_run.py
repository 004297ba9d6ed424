"""One database of `audit_lists`: migrate, fill, measure; prints milliseconds by list as JSON.

Import this module only after `django.setup()`.
"""

from __future__ import annotations

import json

from django.core.management import call_command
from django.test import Client

from authservice.audit.models import Entry
from authservice.core.models import Account
from tests.benchmarks import audit_lists, audit_seed

_READER = {"email": "reader@example.com", "password": "plum tart 42 windows"}


def main(rows: int) -> None:
    call_command("migrate", verbosity=0)
    if not Entry.objects.exists():
        audit_seed.fill(rows)
    client = Client()
    headers = {"Authorization": f"Bearer {_token(client)}"}
    # The reader is the actor of a twentieth of all entries.
    assert str(Account.objects.get().pk) == audit_seed.HEAVY

    def ask(path: str) -> None:
        assert client.get(f"/auth/{path}", headers=headers).status_code == 200

    print(json.dumps({path: audit_lists.percentile(ask, path) for path in audit_lists.paths()}))


def _token(client: Client) -> str:
    if not Account.objects.exists():
        client.post("/auth/signup", _READER, content_type="application/json")
        Account.objects.update(is_super_admin=True)
    answer = client.post("/auth/login", _READER, content_type="application/json")
    return answer.json()["data"]["access_token"]
