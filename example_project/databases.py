"""From a database URL to Django's settings for it, tuned for many short transactions at once.

What the URL itself says in its query (`?conn_max_age=0`, `?prepare_threshold=None`) wins.
"""

from typing import Any

import environ

SQLITE = {
    # A transaction that starts by reading and then writes would fail at once when another one has
    # written meanwhile; one that takes the write lock at its start waits for its turn instead.
    "transaction_mode": "IMMEDIATE",
    "timeout": 30,
    # Readers go on while somebody writes. NORMAL may lose the last commits when the machine (not
    # the process) dies, and never corrupts.
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL",
}
POSTGRESQL = {
    # Planning a statement costs more than running it, so let the server keep the plans: the second
    # run of a statement on a connection prepares it. PgBouncer in transaction mode needs
    # `?prepare_threshold=None`.
    "server_side_binding": True,
    "prepare_threshold": 2,
}
POOL = {"min_size": 2, "max_size": 12, "timeout": 10}
MYSQL = {
    "charset": "utf8mb4",
    # Under MySQL's own default, REPEATABLE READ, a transaction does not see what others committed.
    "isolation_level": "read committed",
}
OPTIONS: dict[str, dict[str, Any]] = {"sqlite3": SQLITE, "postgresql": POSTGRESQL, "mysql": MYSQL}
WORDS = {"None": None, "True": True, "False": False}


def database(url: str, *, conn_max_age: int) -> dict[str, Any]:
    """An entry of `DATABASES`: PostgreSQL with a pool, the others with connections kept open."""
    config = environ.Env.db_url_config(url)
    vendor = config["ENGINE"].rpartition(".")[2]
    given = {key: WORDS.get(value, value) for key, value in config.get("OPTIONS", {}).items()}
    options = {**OPTIONS.get(vendor, {}), **given}
    if vendor == "postgresql" and not config.get("CONN_MAX_AGE"):
        return {**config, "OPTIONS": {"pool": POOL, **options}}
    # Django refuses a pool beside persistent connections.
    kept = {"CONN_MAX_AGE": conn_max_age, "CONN_HEALTH_CHECKS": True}
    return {**kept, **config, "OPTIONS": options}
