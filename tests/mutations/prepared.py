"""Prepared statements of PostgreSQL, and what must hold while something is broken."""

from __future__ import annotations

from tests.mutations.kinds import Mutation, to, without

_TESTS = ("tests/kernel/test_prepared.py",)
_FILE = "authservice/kernel/sql.py"

PREPARED = (
    Mutation(
        "The check for a pooler before a statement is prepared",
        _FILE,
        to("return bool(pid == connection.connection.info.backend_pid)", "return True"),
        _TESTS,
        database="postgres",
    ),
    Mutation(
        "The check for disabled server-side cursors before a statement is prepared",
        _FILE,
        to("if pooled or not persistent:", "if not persistent:"),
        _TESTS,
        database="postgres",
    ),
    Mutation(
        "The repetition of a transaction that lost a prepared statement",
        "authservice/kernel/databases.py",
        to(
            "    if isinstance(error, PreparedStatementLost):\n        return True\n    cause",
            "    cause",
        ),
        _TESTS,
        database="postgres",
    ),
    Mutation(
        "The end of preparing after a lost statement",
        _FILE,
        without("        _lost.add(connection.alias)\n"),
        _TESTS,
        database="postgres",
    ),
    Mutation(
        "The restored threshold of the project after a prepared statement",
        _FILE,
        to("                self.connection.prepare_threshold = None\n", "                pass\n"),
        _TESTS,
        database="postgres",
    ),
    Mutation(
        "The restored cursor of the project after a prepared statement",
        _FILE,
        to("            driver.cursor_factory = former_factory\n", "            pass\n"),
        _TESTS,
        database="postgres",
    ),
    Mutation(
        "The times without a time zone in a project that has none",
        _FILE,
        to("            if aware:", "            if True:"),
        _TESTS,
        database="postgres",
    ),
    Mutation(
        "The percent sign in a prepared statement",
        _FILE,
        to('else "%", sql', 'else "%%", sql'),
        _TESTS,
        database="postgres",
    ),
    Mutation(
        "The tokens that are issued before a refresh token is used up",
        "authservice/core/sessions/rotation.py",
        (
            ("    new_tokens = sessions.issue_tokens(person, session)\n", ""),
            (
                "    return new_tokens if matched_rows",
                "    return sessions.issue_tokens(person, session) if matched_rows",
            ),
        ),
        ("tests/core/sessions/test_rotation_failing.py",),
    ),
    Mutation(
        "The transaction of a refresh that has an audit entry",
        "authservice/core/sessions/rotation.py",
        to("if has_listener else nullcontext()", "if not has_listener else nullcontext()"),
        ("tests/core/sessions/test_rotation_failing.py",),
    ),
    Mutation(
        "The recognition of a connection that was lost in a transaction",
        "authservice/kernel/databases.py",
        to("return isinstance(error, OperationalError)", "return False"),
        ("tests/contract/test_database_away.py",),
    ),
    Mutation(
        "The limit of one log line a second during an outage",
        "authservice/kernel/databases.py",
        to("            if now - self._last < _PAUSE:\n                return False\n", ""),
        ("tests/contract/test_database_away.py",),
        database="postgres",
    ),
    Mutation(
        "A read-only server among the outages",
        "authservice/kernel/databases.py",
        to('_STATES = ("55P03", "25006")', '_STATES = ("55P03",)'),
        ("tests/contract/test_database_away.py",),
    ),
    Mutation(
        "The time after which a request refused in an outage can be repeated",
        "authservice/kernel/errors.py",
        to('headers = {"Retry-After": "2"}', "headers = {}"),
        ("tests/contract/test_database_away.py",),
    ),
    Mutation(
        "A readiness check that fails without a database",
        "authservice/health.py",
        to('"unavailable"}, status=503)', '"unavailable"}, status=200)'),
        ("tests/contract/test_health.py",),
        database="postgres",
    ),
    Mutation(
        "The repetition of a transaction that a deadlock aborted",
        "authservice/kernel/databases.py",
        to("sqlstate in _SQLSTATES or ", ""),
        ("tests/races/test_deadlocks.py",),
        database="postgres",
    ),
    Mutation(
        "The repetition of what follows a commit after a deadlock",
        "authservice/kernel/databases.py",
        to("        retry_on_deadlock(action)\n", "        action()\n"),
        ("tests/core/recovery/test_locks.py",),
    ),
    Mutation(
        "The repetition after a savepoint that was lost with its transaction",
        "authservice/kernel/databases.py",
        to("return galera and isinstance(cause, IntegrityError)", "return False"),
        ("tests/kernel/test_deadlocks.py",),
    ),
    Mutation(
        "The repetition of a batch of the cleanup",
        "authservice/core/cleanup.py",
        to("retry_on_deadlock(lambda: _delete(rows, pks))", "_delete(rows, pks)"),
        ("tests/commands/test_cleanup.py",),
    ),
    Mutation(
        "The repetition of the claim to refresh a provider's token",
        "authservice/oauth/tokens.py",
        to("retry_on_deadlock(partial(_claim, link))", "_claim(link)"),
        ("tests/oauth/flow/test_tokens.py",),
    ),
    Mutation(
        "A deadlock that retries do not resolve among the outages",
        "authservice/kernel/databases.py",
        to('("08", "40", ', '("08", '),
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
        "authservice/core/sessions/revocation.py",
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
