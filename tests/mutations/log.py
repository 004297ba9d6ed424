"""The audit log and Django admin."""

from __future__ import annotations

from tests.mutations.kinds import CORE, Mutation, to, without

_LOGGED = "--ds=tests.audit.settings"
_LISTS = (_LOGGED, *(f"tests/audit/inside/test_{name}.py" for name in ("lists", "narrowing")))
_ACTIONS = (_LOGGED, "tests/audit/inside/test_action_entries.py", "-kPOST")
_PARTITIONS = (_LOGGED, "tests/audit/inside/test_partitions.py")
_PARTITION_RACES = (_LOGGED, "tests/audit/inside/test_partition_races.py")
_CLEANUP = (_LOGGED, "tests/audit/inside/test_cleanup.py")
LOG = (
    Mutation(
        "The rollback of an action whose entry cannot be written",
        "authservice/audit/writer.py",
        to(
            "            statement.run()\n",
            "            try:\n                statement.run()\n"
            "            except Exception:\n                return\n",
        ),
        (_LOGGED, "tests/audit/inside/test_failed_entries.py", "-kPOST"),
    ),
    Mutation(
        "The audit entry of a refused login",
        CORE + "login/login.py",
        to(
            '    record_failure(person, client, "invalid_credentials", method=method)\n    #',
            "    #",
        ),
        _ACTIONS,
    ),
    Mutation(
        "The audit entry of a sign-up",
        CORE + "login/signup.py",
        without('\n    events.record("auth.signup", person, client)'),
        (_LOGGED, "tests/audit/inside/test_batches.py"),
    ),
    Mutation(
        "The audit entry of a reached limit on attempts",
        CORE + "recovery/recent_proof.py",
        without(", report=report"),
        (_LOGGED, "tests/audit/inside/test_action_entries.py", "-kchange-password"),
    ),
    Mutation(
        "The encoding of metadata as one line of ASCII",
        "authservice/audit/writer.py",
        to('separators=(",", ":"))', 'separators=(",", ":"), ensure_ascii=False)'),
        (_LOGGED, "tests/audit/inside/test_entries.py", "-kline"),
    ),
    Mutation(
        "The permanent retention of security entries",
        "authservice/audit/conf.py",
        to('"security.": None', '"security.": timedelta(days=90)'),
        _CLEANUP,
    ),
    Mutation(
        "The recorded number of entries that an aborted cleanup deleted",
        "authservice/audit/retention.py",
        without(
            "            Entry.objects.filter(pk=entry.pk)"
            ".update(metadata=writer.as_text(result))\n"
        ),
        _CLEANUP,
    ),
    Mutation(
        "The copy of the entries of a dropped month that are to be kept",
        "authservice/audit/partitions.py",
        to("action = ANY(%s)", "action <> ALL(%s)"),
        _PARTITIONS,
        database="postgres",
    ),
    Mutation(
        "The limit on the wait for a lock when the audit table becomes partitioned",
        "authservice/audit/partitions.py",
        without("        run(_PATIENCE)\n"),
        _PARTITION_RACES,
        database="postgres",
    ),
    Mutation(
        "The lock that lets one run at a time partition the audit table",
        "authservice/audit/partitions.py",
        without("        run(_ONE_AT_A_TIME, TABLE)\n"),
        _PARTITION_RACES,
        database="postgres",
    ),
    Mutation(
        "The refusal to partition a table that is published",
        "authservice/audit/partitions.py",
        to("tablename = relname\n", "tablename <> relname\n"),
        (_LOGGED, "tests/audit/inside/test_partition_conversion.py"),
        database="postgres",
    ),
    Mutation(
        "The audit log, read-only in Django admin",
        "authservice/audit/admin.py",
        to("EntryAdmin(ReadOnly, EntryPage)", "EntryAdmin(EntryPage)"),
        (_LOGGED, "tests/audit/inside/test_django_admin.py"),
    ),
    Mutation(
        "The audit log, without deletion in Django admin",
        "authservice/audit/admin.py",
        to("        return False\n", "        return True\n"),
        (_LOGGED, "tests/audit/inside/test_django_admin.py"),
    ),
    Mutation(
        "The query plan of a list for its filters",
        "authservice/kernel/sql.py",
        without("    connection.connection.prepare_threshold = None\n"),
        ("tests/admin_api/test_prepared.py",),
        database="postgres",
    ),
    Mutation(
        "The address of staff in Django admin",
        CORE + "admin/accounts.py",
        to(
            "by=request.user, client=of_page(request))\n\n    @admin.display",
            "by=request.user, client=type(of_page(request))())\n\n    @admin.display",
        ),
        (_LOGGED, "tests/audit/inside/test_django_admin.py"),
    ),
    Mutation(
        "The filter of the own entries of the audit log",
        "authservice/audit/queries.py",
        to("[entries.filter(done_by), entries.filter(done_to)]", "[entries]"),
        _LISTS,
    ),
    Mutation(
        "The hidden client of other actors",
        "authservice/audit/views.py",
        to("if row.actor_id == caller:", "if True:"),
        _LISTS,
    ),
    Mutation(
        "The permission check of the audit log of all users",
        "authservice/audit/views.py",
        to("    super_admin = True\n", ""),
        ("--ds=tests.audit.settings", "tests/hosts/inside/test_essentials.py"),
        times=0,
    ),
    Mutation(
        "The single occurrence of an entry whose actor is its target",
        "authservice/audit/queries.py",
        without(" & ~done_by"),
        _LISTS,
    ),
    Mutation(
        "The super admin who remains if several are deleted together",
        CORE + "staff/super_admins.py",
        to("_active_among(locked - leaving)", "_active_among(locked - {pk})"),
        ("--ds=tests.admin.settings", "tests/admin/inside/test_last_super_admin.py"),
    ),
    Mutation(
        "The address of a job, hidden from monitors of Celery",
        "authservice/notification/dispatchers/celery.py",
        to("argsrepr=_shown(message),\n                retry=", "retry="),
        ("tests/notification/test_celery.py",),
    ),
)
