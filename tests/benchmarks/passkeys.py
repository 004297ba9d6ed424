"""`python -m tests.benchmarks.passkeys`: a login with a passkey among a million.

Fills two databases on PostgreSQL, logs in with a passkey of each in turn in this process, and
compares the 95th percentiles. Exits with 1 if the larger one takes more than 1.2 times as long. It
takes about three minutes.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from argparse import ArgumentParser
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import django

from tests.benchmarks import databases
from tests.benchmarks.options import ADMIN_URL, positive

LIMIT = 1.2
ROUNDS, LOGINS = 20, 50
_USERS = """
    INSERT INTO auth_user (
        username, email, password, first_name, last_name, is_active, is_staff, is_superuser,
        date_joined
    )
    SELECT
        'user' || number, 'user' || number || '@example.com', '!', '', '', true, false, false, now()
    FROM generate_series(1, %s) number
"""
_HANDLES = """
    INSERT INTO authservice_passkeys_handle (user_id, value)
    SELECT id, md5(id::text) || md5(username) FROM auth_user
"""
_PASSKEYS = """
    INSERT INTO authservice_passkeys_passkey (
        id, user_id, credential_id, credential_digest, public_key, counter, transports, aaguid,
        backup_eligible, backed_up, name, second_factor, verifies, attested, created_at
    )
    SELECT
        md5(email)::uuid, id, md5(email), encode(sha256(email::bytea), 'hex'), repeat('A', 104), 0,
        'internal', '00000000-0000-0000-0000-000000000000', true, true, 'Phone', false, true, false,
        now()
    FROM auth_user
"""


def main() -> int:
    parser = ArgumentParser(prog="python -m tests.benchmarks.passkeys", description=__doc__)
    parser.add_argument("--rows", type=positive, default=1_000_000, help="passkeys of the larger")
    parser.add_argument("--database-url", default=ADMIN_URL, help="server on which to create them")
    chosen = parser.parse_args()
    numbers = (10_000, chosen.rows)
    with ExitStack() as stack:
        urls = [
            stack.enter_context(databases.database(chosen.database_url, f"passkeys{n}", keep=False))
            for n in numbers
        ]
        os.environ.update(DATABASE_URL=urls[0], DJANGO_SETTINGS_MODULE="tests.settings")
        django.setup()
        return measure({n: urlsplit(url).path[1:] for n, url in zip(numbers, urls, strict=True)})


def measure(names: dict[int, str]) -> int:
    """`names` are the databases by their number of passkeys."""
    # Imported here because they need a configured Django, which needs the database.
    from django.conf import settings
    from django.db import connection

    settings.AUTHSERVICE = {**settings.AUTHSERVICE, "THROTTLE": {"ENABLED": False}}
    settings.ALLOWED_HOSTS = ["testserver"]
    holders = {}
    for number, name in names.items():
        _use(name)
        holders[number] = _filled(number)
    taken: dict[int, list[float]] = {number: [] for number in names}
    for turn in range(ROUNDS + 1):
        for number, name in names.items():
            _use(name)
            times = [_login(holders[number]) for _ in range(LOGINS)]
            if turn:  # the first one fills the caches
                taken[number] += times
    connection.close()
    few, many = (statistics.quantiles(times, n=20)[-1] for times in taken.values())
    for number, times in taken.items():
        median, p95 = statistics.median(times), statistics.quantiles(times, n=20)[-1]
        print(f"{number:>9} passkeys: median {median:.2f} ms, p95 {p95:.2f} ms")
    print(f"p95: {many / few:.2f} times as long, at most {LIMIT}")
    return int(many / few > LIMIT)


def _use(name: str) -> None:
    from django.db import connection

    connection.close()
    connection.settings_dict["NAME"] = name


def _filled(number: int) -> Any:
    """A user with a passkey, among that many others."""
    from django.core.management import call_command
    from django.db import connection

    from tests.passkeys.people import Holder
    from tests.support.client import Api

    call_command("migrate", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute(_USERS, [number - 1])
        for statement in (_HANDLES, _PASSKEYS, "ANALYZE"):
            cursor.execute(statement)
    holder = Holder(Api()).sign_up()
    holder.enrol()
    return holder


def _login(holder: Any) -> float:
    """The milliseconds that the server takes for the login alone."""
    from django.test import Client

    begun = holder.login_options()
    body = {"request_token": begun["request_token"], "credential": holder.sign(begun)}
    start = time.perf_counter()
    answer = Client().post("/auth/passkeys/login", body, content_type="application/json")
    seconds = time.perf_counter() - start
    assert answer.status_code == 200, answer.content
    return seconds * 1000


if __name__ == "__main__":
    sys.exit(main())
