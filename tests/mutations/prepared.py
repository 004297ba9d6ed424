"""Prepared statements of PostgreSQL, and what must hold while something is broken."""

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
    Mutation(
        "The recognition of a connection that was lost in a transaction",
        "authservice/kernel/outages.py",
        to("return isinstance(error, OperationalError)", "return False"),
        ("tests/contract/test_database_away.py",),
    ),
    Mutation(
        "The mark of a refused request as logged",
        "authservice/core/api/endpoint.py",
        to('response.__dict__["_has_been_logged"] = True', "pass"),
        ("tests/contract/test_database_away.py",),
        database="postgres",
    ),
    Mutation(
        "The answer of a logout that does not depend on receivers",
        "authservice/core/sessions/logout.py",
        to("user_logged_out.send_robust(", "user_logged_out.send("),
        ("tests/faults/test_raising.py",),
    ),
    Mutation(
        "The deletion of lockouts that a wrong clock made",
        "authservice/core/cleanup.py",
        to("now + 2 * attempt_counter.DAY", "now + 4000 * attempt_counter.DAY"),
        ("tests/faults/test_clock.py",),
    ),
)
