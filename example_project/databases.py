"""Convert a database URL to Django's settings, tuned for many short concurrent transactions.

Options in the URL's query (`?conn_max_age=0`, `?prepare_threshold=None`) take precedence.
"""

from typing import Any

import environ

SQLITE = {
    # A transaction that first reads and then writes fails at once if another one has written
    # meanwhile. One that takes the write lock when it begins waits for the other one instead.
    "transaction_mode": "IMMEDIATE",
    "timeout": 30,
    # WAL lets readers continue during a write. NORMAL may lose the last commits if the machine (not
    # the process) crashes, but never corrupts the database.
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL",
}
POSTGRESQL = {
    # Planning a statement costs more than executing it, so the server keeps the plans: the second
    # execution of a statement on a connection prepares it. PgBouncer in transaction mode requires
    # `?prepare_threshold=None`.
    "server_side_binding": True,
    "prepare_threshold": 2,
}
# While the database is away, a request waits `timeout` seconds for a connection. Without
# `reconnect_timeout`, the pool doubles the pause after each failed attempt to connect: after an
# outage of 110 seconds, requests failed for 6 seconds more.
POOL = {"min_size": 2, "max_size": 12, "timeout": 2, "reconnect_timeout": 1}
MYSQL = {
    "charset": "utf8mb4",
    # With MySQL's default, REPEATABLE READ, a transaction does not see what others have committed.
    "isolation_level": "read committed",
}
OPTIONS: dict[str, dict[str, Any]] = {"sqlite3": SQLITE, "postgresql": POSTGRESQL, "mysql": MYSQL}
WORDS = {"None": None, "True": True, "False": False}


def database(url: str, *, conn_max_age: int) -> dict[str, Any]:
    """An entry of `DATABASES`: PostgreSQL with a pool, others with persistent connections."""
    config = environ.Env.db_url_config(url)
    vendor = config["ENGINE"].rpartition(".")[2]
    given = {key: WORDS.get(value, value) for key, value in config.get("OPTIONS", {}).items()}
    options = {**OPTIONS.get(vendor, {}), **given}
    if vendor == "postgresql" and not config.get("CONN_MAX_AGE"):
        return {**config, "OPTIONS": {"pool": POOL, **options}}
    # Django rejects a pool in combination with persistent connections.
    kept = {"CONN_MAX_AGE": conn_max_age, "CONN_HEALTH_CHECKS": True}
    return {**kept, **config, "OPTIONS": options}
