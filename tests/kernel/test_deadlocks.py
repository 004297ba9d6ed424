"""Which database errors are retried, and how often."""

import sqlite3
from contextlib import closing

import pytest
from django.db import IntegrityError, OperationalError, connections, transaction
from django.db.transaction import TransactionManagementError
from psycopg import errors as postgresql

from authservice.kernel import databases


def mariadb(number=1213):
    return OperationalError(number, "a message of MariaDB")


def wrapped(cause):
    """The error as Django wraps the exception of the driver."""
    error = OperationalError(str(cause))
    error.__cause__ = cause
    return error


def broken(cause):
    """The error of a statement after one that failed in the same transaction."""
    error = TransactionManagementError("You can't execute queries until the end of the block.")
    error.__cause__ = cause
    return error


DEADLOCKS = [
    pytest.param(mariadb(), id="MariaDB"),
    pytest.param(wrapped(postgresql.DeadlockDetected()), id="PostgreSQL"),
    pytest.param(wrapped(postgresql.SerializationFailure()), id="serializable"),
]
OTHERS = [
    pytest.param(mariadb(1205), id="lock wait timeout"),
    pytest.param(wrapped(postgresql.AdminShutdown()), id="server shutdown"),
    pytest.param(OperationalError("database is locked"), id="SQLite"),
    pytest.param(OperationalError(), id="no message"),
    pytest.param(broken(OperationalError("database is locked")), id="unusable transaction"),
]


def locked(path):
    """The error of a transaction of SQLite that has read and wants to write beside another."""
    reader, writer = (sqlite3.connect(path, timeout=5, isolation_level=None) for _ in range(2))
    with closing(reader), closing(writer):
        reader.execute("CREATE TABLE one (number)")
        writer.execute("PRAGMA journal_mode = WAL")
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM one").fetchall()
        writer.execute("INSERT INTO one VALUES (1)")
        with pytest.raises(sqlite3.OperationalError, match="database is locked") as raised:
            reader.execute("INSERT INTO one VALUES (2)")
    return wrapped(raised.value)


class Work:
    """Fails with each of the errors in turn, then succeeds."""

    def __init__(self, *errors):
        self.left = list(errors)

    def __call__(self):
        if self.left:
            raise self.left.pop(0)
        return "done"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("error", DEADLOCKS)
def test_deadlock_is_retried(error):
    assert databases.retry_on_deadlock(Work(error)) == "done"


@pytest.mark.django_db(transaction=True)
def test_write_that_sqlite_refuses_after_a_read_is_retried(tmp_path):
    error = locked(tmp_path / "db.sqlite3")

    assert databases.retry_on_deadlock(Work(error, error)) == "done"


@pytest.mark.django_db(transaction=True)
def test_sqlite_that_was_locked_for_long_is_not_waited_for_again(tmp_path, monkeypatch):
    error, times = locked(tmp_path / "db.sqlite3"), iter([0, 5])
    monkeypatch.setattr(databases.time, "monotonic", lambda: next(times))

    with pytest.raises(OperationalError):
        databases.retry_on_deadlock(Work(error))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("error", OTHERS)
def test_other_database_errors_are_not_retried(error):
    with pytest.raises(type(error)) as raised:
        databases.retry_on_deadlock(Work(error))

    assert raised.value is error


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("vendor", ["mysql", "postgresql"])
def test_savepoint_lost_with_its_transaction_is_a_deadlock_on_mysql_only(monkeypatch, vendor):
    monkeypatch.setattr(connections[databases.primary()], "vendor", vendor)
    error = broken(IntegrityError(1062, "Duplicate entry"))

    if vendor == "mysql":
        assert databases.retry_on_deadlock(Work(error)) == "done"
    else:
        with pytest.raises(TransactionManagementError):
            databases.retry_on_deadlock(Work(error))


@pytest.fixture
def no_pause(monkeypatch):
    monkeypatch.setattr(databases, "_DEADLOCK_PAUSE", 0)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("no_pause")
def test_deadlock_is_retried_seven_times():
    assert databases.retry_on_deadlock(Work(*[mariadb()] * 7)) == "done"


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("no_pause")
def test_deadlock_raises_after_seven_retries():
    with pytest.raises(OperationalError):
        databases.retry_on_deadlock(Work(*[mariadb()] * 8))


@pytest.mark.django_db(transaction=True)
def test_deadlock_within_an_outer_transaction_is_not_retried():
    with transaction.atomic(), pytest.raises(OperationalError):
        databases.retry_on_deadlock(Work(mariadb()))


@pytest.mark.django_db(transaction=True)
def test_deadlock_after_a_commit_is_retried():
    work, done = Work(mariadb()), []

    with transaction.atomic():
        databases.after_commit(lambda: done.append(work()))
        assert done == []

    assert done == ["done"]


@pytest.mark.django_db(transaction=True)
def test_error_after_a_commit_is_logged_and_stops_no_other_callback(caplog):
    done = []

    def break_down():
        raise ValueError

    with transaction.atomic():
        databases.after_commit(break_down)
        databases.after_commit(lambda: done.append("done"))

    assert done == ["done"]
    assert "break_down" in caplog.text
