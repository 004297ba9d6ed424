"""Prepared statements of PostgreSQL."""

from __future__ import annotations

from tests.mutations.kinds import Mutation, to, without

_TESTS = ("tests/kernel/test_prepared.py",)
_FILE = "authservice/kernel/prepared.py"

PREPARED = (
    Mutation(
        "The check for a pooler before a statement is prepared",
        _FILE,
        to("return bool(pid == driver.info.backend_pid)", "return True"),
        _TESTS,
        database="postgres",
    ),
    Mutation(
        "The check for disabled server-side cursors before a statement is prepared",
        _FILE,
        to("(kept and not pooled)", "kept"),
        _TESTS,
        database="postgres",
    ),
    Mutation(
        "The repetition of a transaction that lost a prepared statement",
        "authservice/kernel/retries.py",
        to("    if isinstance(error, PreparedStatementLost):\n        return True\n", ""),
        _TESTS,
        database="postgres",
    ),
    Mutation(
        "The end of preparing after a lost statement",
        _FILE,
        without("        _wanted[connection.alias] = False\n"),
        _TESTS,
        database="postgres",
    ),
    Mutation(
        "The restored threshold of the project after a prepared statement",
        _FILE,
        to("        driver.prepare_threshold = None\n", "        pass\n"),
        _TESTS,
        database="postgres",
    ),
)
