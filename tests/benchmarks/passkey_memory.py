"""`python -m tests.benchmarks.passkey_memory`: the memory of a worker with passkeys.

Starts workers of the test project on SQLite, in turn without the module, with it, and with a
passkey that was added and has logged in. Each one serves a sign-up and GET /me first. It prints the
medians of what the last two use in addition to the first, and how far two workers without the
module differ: their own memory, and all that is resident, with the pages of libraries that workers
share. Exits with 1 if the own memory of a worker that has seen a passkey is more than 6 MB larger.
It takes about a minute.
"""

from __future__ import annotations

import gc
import json
import os
import statistics
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from tests.benchmarks.options import positive

LIMIT = 6.0
ROUNDS = 9
WITHOUT, INSTALLED, SEEN = "without", "installed", "seen"
_SETTINGS = {WITHOUT: "tests.passkeys.without"}
_FIELDS = {"own": "RssAnon", "resident": "VmRSS"}


def main() -> int:
    parser = ArgumentParser(prog="python -m tests.benchmarks.passkey_memory", description=__doc__)
    parser.add_argument("--rounds", type=positive, default=ROUNDS, help="workers of each kind")
    parser.add_argument("--worker", choices=(WITHOUT, INSTALLED, SEEN), help="for itself")
    chosen = parser.parse_args()
    if chosen.worker:
        work(chosen.worker)
        return 0
    return measure(chosen.rounds)


def measure(rounds: int) -> int:
    kinds = (WITHOUT, INSTALLED, SEEN, WITHOUT)
    turns = [[_megabytes(kind) for kind in kinds] for _ in range(rounds + 1)][1:]  # to warm up
    for name, index in ((INSTALLED, 1), (SEEN, 2), ("the same again", 3)):
        for field in _FIELDS:
            more = [turn[index][field] - turn[0][field] for turn in turns]
            middle = statistics.median(more)
            print(
                f"{name:>14}, {field:>8}: {middle:+.2f} MB ({min(more):+.2f} to {max(more):+.2f})"
            )
    seen = statistics.median(turn[2]["own"] - turn[0]["own"] for turn in turns)
    print(
        f"own memory of a worker that has seen a passkey: {seen:.1f} MB more, at most {LIMIT:.0f}"
    )
    return int(seen > LIMIT)


def _megabytes(kind: str) -> dict[str, float]:
    """What a new worker uses. It asks for the answers of a browser, so that the code of the
    software key is not in its memory."""
    from tests.passkeys.authenticator import Authenticator

    device = Authenticator()
    worker = subprocess.Popen(
        [sys.executable, "-m", "tests.benchmarks.passkey_memory", "--worker", kind],
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": _SETTINGS.get(kind, "tests.settings"),
            "DATABASE_URL": "sqlite://:memory:",
        },
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert worker.stdin
    assert worker.stdout
    with worker:
        for line in worker.stdout:
            name, value = json.loads(line)
            if name == "megabytes":
                return dict(value)
            print(json.dumps(getattr(device, name)(value)), file=worker.stdin, flush=True)
    raise RuntimeError(f"a worker ended with {worker.returncode}")


def work(kind: str) -> None:
    """Serve requests in this process, and print its memory."""
    import django
    from django.conf import settings

    from tests.snippets.project import NoMigrations

    settings.MIGRATION_MODULES = NoMigrations()
    django.setup()
    from django.core.management import call_command
    from django.test import Client

    call_command("migrate", run_syncdb=True, verbosity=0)
    client, token = Client(), ""

    def post(path: str, **body: Any) -> Any:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        answer = client.post(f"/auth/{path}", body, "application/json", headers=headers)
        assert answer.status_code in (200, 201), answer.content
        return answer.json()["data"]

    token = post("signup", email="ann@example.com", password="plum tart 42 windows")["access_token"]
    assert client.get("/auth/me", headers={"Authorization": f"Bearer {token}"}).status_code == 200
    if kind == SEEN:
        begun = post("passkeys/options")
        made = _asked("create", begun["options"])
        post("passkeys", request_token=begun["request_token"], credential=made)
        begun = post("passkeys/login/options")
        signed = _asked("get", begun["options"])
        post("passkeys/login", request_token=begun["request_token"], credential=signed)
    gc.collect()
    lines = Path("/proc/self/status").read_text().splitlines()
    kilobytes = {line.partition(":")[0]: line.split()[1] for line in lines if line.endswith("kB")}
    used = {name: int(kilobytes[field]) / 1024 for name, field in _FIELDS.items()}
    print(json.dumps(["megabytes", used]), flush=True)


def _asked(kind: str, options: Any) -> Any:
    print(json.dumps([kind, options]), flush=True)
    return json.loads(sys.stdin.readline())


if __name__ == "__main__":
    sys.exit(main())
