"""The compiled statements are prepared with Django's default options, where that is safe."""

from __future__ import annotations

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from authservice.core.models import AttemptCounter, Session
from authservice.kernel.sql import Bound
from tests.hosts.runs import holds
from tests.support.bouncer import bouncer, only_with_bouncer
from tests.support.client import PASSWORD
from tests.support.prepared import only_postgresql

pytestmark = [pytest.mark.django_db(transaction=True), only_postgresql]

TABLE = Session._meta.db_table


@pytest.fixture
def connect(monkeypatch, configure):
    """`connect(CONN_MAX_AGE=0)` reconnects with Django's default options, but for these."""

    def reconnect(mode="auto", **changed):
        connection.close()
        configure(PREPARED_STATEMENTS=mode)
        given = {"OPTIONS": {}, "CONN_MAX_AGE": 60, "DISABLE_SERVER_SIDE_CURSORS": False}
        for name, value in {**given, **changed}.items():
            monkeypatch.setitem(connection.settings_dict, name, value)
        connection.ensure_connection()

    yield reconnect
    connection.close()


@pytest.fixture
def tokens(api):
    return api.sign_up()


@pytest.fixture
def me(api, tokens):
    def ask() -> int:
        return api.get("me", token=tokens["access_token"]).status

    return ask


@pytest.fixture
def many(me):
    def ask() -> None:
        for _ in range(4):
            assert me() == 200

    return ask


def prepared_names(model=Session) -> list[str]:
    """The prepared statements of the connection that read or write rows of a model."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT name FROM pg_prepared_statements WHERE statement LIKE %s",
            [f'%"{model._meta.db_table}"%'],
        )
        return [name for (name,) in cursor.fetchall()]


def lose_all() -> None:
    """Remove the prepared statements as a pooler does: psycopg still knows their names."""
    connection.connection.pgconn.exec_(b"DEALLOCATE ALL")


def test_statement_is_prepared_with_default_options(connect, many):
    connect()

    many()

    assert len(prepared_names()) == 1
    assert connection.connection.prepare_threshold is None


def test_statements_of_the_project_are_not_prepared(connect):
    connect()

    for _ in range(8):
        Session.objects.filter(user_agent="mine").exists()

    assert prepared_names() == []


@pytest.mark.parametrize(
    "options",
    [
        {"CONN_MAX_AGE": 0},
        {"DISABLE_SERVER_SIDE_CURSORS": True},
        {"mode": "never"},
        {"OPTIONS": {"prepare_threshold": 100}},
    ],
    ids=str,
)
def test_nothing_is_prepared_with(options, connect, many):
    connect(**options)

    many()

    assert prepared_names() == []


def test_always_prepares_on_short_connections_too(connect, many):
    connect("always", CONN_MAX_AGE=0, DISABLE_SERVER_SIDE_CURSORS=True)

    many()

    assert len(prepared_names()) == 1


def test_instrumentation_sees_prepared_statements(connect, many, me):
    connect()
    many()
    seen = []

    def watch(execute, sql, params, many, context):
        seen.append(sql)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(watch), CaptureQueriesContext(connection) as captured:
        assert me() == 200

    assert [TABLE in sql for sql in seen] == [True]
    assert len(captured) == 1


def test_lost_statement_is_run_again(connect, many, me, caplog):
    connect()
    many()
    lose_all()

    assert [me(), me()] == [200, 200]
    (entry,) = [record for record in caplog.records if "PREPARED_STATEMENTS" in record.message]
    assert entry.levelname == "ERROR"


def test_process_stops_preparing_after_a_loss(connect, many, me):
    connect()
    many()
    lose_all()

    many()

    assert prepared_names() == []


def test_attempts_are_counted_by_a_prepared_statement(connect, api, tokens):
    connect()

    for _ in range(4):
        api.log_in()

    assert len(prepared_names(AttemptCounter)) >= 1


def test_query_of_an_execute_wrapper_is_not_prepared(connect, many):
    connect()
    asked = []

    def ask(execute, sql, params, many, context):
        if not asked:
            asked.append(sql)
            for _ in range(4):
                Session.objects.filter(user_agent="mine").exists()
            asked.clear()
        return execute(sql, params, many, context)

    with connection.execute_wrapper(ask):
        many()

    assert len(prepared_names()) == 1


@pytest.mark.parametrize("number", [1, 49, 51, 200])
def test_prepared_statement_takes_percent_signs_and_many_values(connect, number):
    connect()
    values = list(range(number))
    sql = f"SELECT '100 %%', {', '.join(['%s::int'] * number)}"

    rows = [Bound(connection, sql, values).run(lambda found: found.fetchone()) for _ in range(4)]

    assert rows == [("100 %", *values)] * 4


@pytest.mark.parametrize(
    ("use_tz", "zone"), [(True, None), (True, "Asia/Tokyo"), (False, None)], ids=str
)
def test_times_are_those_that_django_reads(connect, settings, monkeypatch, use_tz, zone):
    settings.USE_TZ = use_tz
    monkeypatch.setitem(connection.settings_dict, "TIME_ZONE", zone)
    forget_time_zone(monkeypatch)
    connect()
    sql = "SELECT '2026-11-25 12:00:00.5+00'::timestamptz, NULL::timestamptz"
    with connection.cursor() as cursor:
        cursor.execute(sql)
        of_django = cursor.fetchone()

    rows = [Bound(connection, sql, []).run(lambda found: found.fetchone()) for _ in range(4)]

    assert rows == [of_django] * 4
    assert {row[0].tzinfo for row in rows} == {connection.timezone}


def forget_time_zone(monkeypatch) -> None:
    """Django keeps the time zone of a connection; it is restored after the test."""
    for name in ("timezone", "timezone_name"):
        monkeypatch.delitem(connection.__dict__, name, raising=False)


def test_lost_statement_in_a_transaction_repeats_the_request(connect, api, tokens, caplog):
    connect()
    for _ in range(4):
        api.log_in()
    lost = []

    def lose_once(execute, sql, params, many, context):
        if connection.in_atomic_block and not lost:
            lost.append(sql)
            lose_all()
        return execute(sql, params, many, context)

    with connection.execute_wrapper(lose_once):
        again = api.post("login", email="ann@example.com", password=PASSWORD)

    assert (again.status, len(lost)) == (200, 1)
    assert "PREPARED_STATEMENTS" in caplog.text


def test_lost_statement_in_a_transaction_of_the_project_is_503(connect, many, me, robust, tokens):
    connect()
    many()
    lose_all()

    with transaction.atomic():
        inside = robust.get("me", token=tokens["access_token"])
        transaction.set_rollback(True)

    assert inside.error == (503, "SERVICE_UNAVAILABLE")
    assert me() == 200


def test_statement_is_prepared_again_after_a_migration_alters_a_column(connect, many, me, caplog):
    connect()
    many()
    column = f'ALTER TABLE "{TABLE}" ALTER COLUMN password_fingerprint TYPE varchar(%d)'
    with connection.cursor() as cursor:
        cursor.connection.pgconn.exec_((column % 200).encode())
    try:
        many()
        assert len(prepared_names()) == 1
        assert "PREPARED_STATEMENTS" not in caplog.text
    finally:
        with connection.cursor() as cursor:
            cursor.execute(column % 64)


@only_with_bouncer
def test_nothing_is_prepared_behind_a_pooler(connect, many):
    with bouncer(connection.settings_dict) as port:
        connect(PORT=port)
        many()
        names = prepared_names()
        connection.close()

    assert names == []


@only_with_bouncer
def test_requests_succeed_behind_a_pooler_that_loses_statements(connect, many, caplog):
    with bouncer(connection.settings_dict) as port:
        connect("always", PORT=port)
        many()
        lose_all()
        many()
        connection.close()

    assert "PREPARED_STATEMENTS" in caplog.text


@pytest.mark.slow
def test_statements_take_the_same_values_when_prepared():
    routes = (f"tests/contract/test_{name}.py" for name in ("signup", "login", "me", "refresh"))
    holds(*routes, "tests/core/sessions", "tests/core/users", host="prepared", sample=True)
