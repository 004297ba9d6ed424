"""The audit log and Django admin."""

from __future__ import annotations

from tests.mutations.kinds import CORE, Mutation, to, without

_LOGGED = "--ds=tests.audit.settings"
_LISTS = (_LOGGED, *(f"tests/audit/inside/test_{name}.py" for name in ("lists", "narrowing")))
_DEEDS = (_LOGGED, "tests/audit/inside/test_deeds.py", "-kPOST")
_CLEANUP = (_LOGGED, "tests/audit/inside/test_cleanup.py")
LOG = (
    Mutation(
        "The action that fails with its entry",
        "authservice/audit/writer.py",
        to(
            "    _INSERT.run(databases.primary(), entry)\n",
            "    try:\n        _INSERT.run(databases.primary(), entry)\n"
            "    except Exception:\n        return entry\n",
        ),
        (_LOGGED, "tests/audit/inside/test_undone.py", "-kPOST"),
    ),
    Mutation(
        "The entry of a refused login",
        CORE + "login/login.py",
        without(
            '    events.record(_refused(person, client, "invalid_credentials", method=method))\n'
        ),
        _DEEDS,
    ),
    Mutation(
        "The entry of an account whose limit of attempts is reached",
        CORE + "recovery/recent_proof.py",
        without(", report=partial(events.record, throttled)"),
        (_LOGGED, "tests/audit/inside/test_deeds.py", "-kchange-password"),
    ),
    Mutation(
        "One line of ASCII, whatever is recorded",
        "authservice/audit/writer.py",
        to('separators=(",", ":"))', 'separators=(",", ":"), ensure_ascii=False)'),
        (_LOGGED, "tests/audit/inside/test_entries.py", "-kline"),
    ),
    Mutation(
        "What concerns security, kept for ever",
        "authservice/audit/conf.py",
        to('"security.": None', '"security.": timedelta(days=90)'),
        _CLEANUP,
    ),
    Mutation(
        "The number that an interrupted cleanup has recorded",
        "authservice/audit/retention.py",
        without("            _all().filter(pk=run.pk).update(metadata=writer.as_text(result))\n"),
        _CLEANUP,
    ),
    Mutation(
        "A log that nobody edits in Django admin",
        "authservice/audit/admin.py",
        to("EntryAdmin(ReadOnly, EntryPage)", "EntryAdmin(EntryPage)"),
        (_LOGGED, "tests/audit/inside/test_staff.py"),
    ),
    Mutation(
        "A log that nobody deletes from in Django admin",
        "authservice/audit/admin.py",
        to("        return False\n", "        return True\n"),
        (_LOGGED, "tests/audit/inside/test_staff.py"),
    ),
    Mutation(
        "The plan of a list for what it is narrowed to",
        "authservice/kernel/sql.py",
        without("    connection.connection.prepare_threshold = None\n"),
        ("tests/admin_api/test_prepared.py",),
        database="postgres",
    ),
    Mutation(
        "The address of staff in Django admin",
        CORE + "admin.py",
        to("client=of_page(request))", "client=type(of_page(request))())"),
        (_LOGGED, "tests/audit/inside/test_staff.py"),
    ),
    Mutation(
        "The owner of an entry of the log",
        "authservice/audit/queries.py",
        to("[found.filter(done_by), found.filter(done_to)]", "[found]"),
        _LISTS,
    ),
    Mutation(
        "The place of whoever else acted",
        "authservice/audit/views.py",
        to("if row.actor_id == caller:", "if True:"),
        _LISTS,
    ),
    Mutation(
        "The guard of the log of everybody",
        "authservice/audit/views.py",
        to("    super_admin = True\n", ""),
        ("--ds=tests.audit.settings", "tests/hosts/inside/test_essentials.py"),
        times=0,
    ),
    Mutation(
        "The one place of an entry about oneself",
        "authservice/audit/queries.py",
        without(" & ~done_by"),
        _LISTS,
    ),
    Mutation(
        "The super admin who remains where two leave together",
        CORE + "staff/super_admins.py",
        to("_reigning(held - leaving)", "_reigning(held - {pk})"),
        ("--ds=tests.admin.settings", "tests/admin/inside/test_last_super_admin.py"),
    ),
    Mutation(
        "The literal meaning of what is searched for",
        "authservice/admin/search.py",
        to(r'escaped = _SPECIAL.sub(r"\\\1", text)', "escaped = text"),
        ("tests/admin_api/test_list.py",),
    ),
    Mutation(
        "The address of a job, hidden from monitors of Celery",
        "authservice/notification/dispatchers/celery.py",
        to(
            "(worker.to_dict(message),), argsrepr=_shown(message), retry",
            "(worker.to_dict(message),), retry",
        ),
        ("tests/notification/test_celery.py",),
    ),
)
