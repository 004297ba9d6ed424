"""The database cannot be reached: every request is refused with 503 and `Retry-After`."""

import os
import socket

import pytest
from django.core.signals import got_request_exception
from django.db import InternalError, OperationalError, connection

from authservice.kernel import databases
from tests.support.client import PASSWORD
from tests.support.needs import database_server as server

pytestmark = pytest.mark.django_db(transaction=True)
AWAY = (503, "SERVICE_UNAVAILABLE")
ROUTES = {
    "GET me": ("GET", "me", None),
    "POST login": ("POST", "login", {"email": "ann@example.com", "password": PASSWORD}),
    "POST signup": ("POST", "signup", {"email": "bob@example.com", "password": PASSWORD}),
}


@pytest.fixture
def reported():
    requests = []

    def receive(request, **_):
        requests.append(request)

    got_request_exception.connect(receive)
    yield requests
    got_request_exception.disconnect(receive)


@server
@pytest.mark.parametrize("route", ROUTES)
def test_request_without_a_database_is_503(robust, away, route):
    method, path, body = ROUTES[route]
    token = robust.sign_up()["access_token"]
    away()

    answer = robust.request(method, path, body, token=token)

    assert answer.error == AWAY
    assert answer.headers["Retry-After"] == "2"


@server
def test_outage_is_logged_once_a_second_without_a_traceback(robust, away, monkeypatch, caplog):
    now = 100.0
    monkeypatch.setattr("authservice.kernel.databases.time.monotonic", lambda: now)
    monkeypatch.setattr("authservice.kernel.databases.outages", databases._Log())
    away()

    def refused(times):
        caplog.clear()
        for _ in range(times):
            assert robust.post("login", email="ann@example.com", password=PASSWORD).error == AWAY
        # Django logs a response of 5xx too, unless it is marked as logged.
        return [entry for entry in caplog.records if entry.name.endswith(".request")]

    assert ["Failed requests: 1." in entry.message for entry in refused(5)] == [True]
    now = 101.5
    (later,) = refused(3)
    assert "Failed requests: 5." in later.message
    assert later.exc_info is None


@server
def test_outage_is_reported_to_error_trackers_once_a_second(robust, away, monkeypatch, reported):
    monkeypatch.setattr("authservice.kernel.databases.outages", databases._Log())
    away()

    for _ in range(5):
        robust.post("login", email="ann@example.com", password=PASSWORD)

    assert len(reported) == 1


@server
def test_service_recovers_by_itself(robust, away, monkeypatch):
    robust.sign_up()
    away()
    assert robust.post("login", email="ann@example.com", password=PASSWORD).error == AWAY
    monkeypatch.undo()

    robust.log_in()


def lose(lost):
    """Break an open connection, whose server stays available."""
    if lost.vendor == "postgresql":
        with socket.socket(fileno=os.dup(lost.connection.fileno())) as opened:
            opened.shutdown(socket.SHUT_RDWR)
        return
    other = lost.copy()
    with other.cursor() as cursor:
        cursor.execute("KILL %s", [lost.connection.thread_id()])
    other.close()


@pytest.fixture
def closed_later():
    """A lost connection is closed after the test, as Django does at the end of a request."""
    yield
    connection.close()


@server
@pytest.mark.usefixtures("closed_later")
@pytest.mark.parametrize("moment", ["INSERT", "COMMIT"])
def test_connection_lost_in_a_transaction_is_503(robust, monkeypatch, moment):
    """Django opens another one when the transaction ends, so the next statement would succeed."""
    commit, lost = connection._commit, []

    def lose_once():
        if not lost:
            lost.append(lose(connection))

    def execute(run, sql, *given):
        if moment in sql:
            lose_once()
        return run(sql, *given)

    def commit_lost():
        if moment == "COMMIT":
            lose_once()
        commit()

    monkeypatch.setattr(connection, "_commit", commit_lost)
    with connection.execute_wrapper(execute):
        answer = robust.post("signup", email="ann@example.com", password=PASSWORD)

    assert (answer.error, len(lost)) == (AWAY, 1)


class Refusal(Exception):
    """What a driver raises."""

    def __init__(self, sqlstate="", **more):
        super().__init__("refused")
        self.sqlstate = sqlstate
        vars(self).update(more)


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (OperationalError("too many connections"), Refusal("53300")),
        (OperationalError("disk full"), Refusal("53100")),
        (OperationalError("terminating connection"), Refusal("57P01")),
        (OperationalError("statement timeout"), Refusal("57014")),
        (OperationalError("lock timeout"), Refusal("55P03")),
        (OperationalError("deadlock detected"), Refusal("40P01")),
        (OperationalError("could not serialize access"), Refusal("40001")),
        (InternalError("read-only transaction"), Refusal("25006")),
        (OperationalError("server closed the connection unexpectedly"), Refusal(None)),
        (OperationalError(1040, "Too many connections"), Refusal()),
        (OperationalError(2013, "Lost connection to server during query"), Refusal()),
        (OperationalError(1047, "WSREP has not yet prepared node"), Refusal()),
        (OperationalError(1205, "Lock wait timeout exceeded"), Refusal()),
        (OperationalError(1213, "Deadlock found when trying to get lock"), Refusal()),
        (OperationalError("database is locked"), Refusal(sqlite_errorname="SQLITE_BUSY")),
    ],
    ids=lambda given: str(given.args[-1]) if given.args[-1] != "refused" else "",
)
def test_statement_that_may_succeed_later_is_503(robust, error, cause, monkeypatch):
    monkeypatch.setattr(databases, "_PAUSE", 0)

    def refuse(*_):
        raise error from cause

    with connection.execute_wrapper(refuse):
        answer = robust.post("login", email="ann@example.com", password=PASSWORD)

    assert answer.error == AWAY


def test_statement_that_a_database_refuses_is_500(robust):
    def refuse(*_):
        raise OperationalError("no such table")

    with connection.execute_wrapper(refuse):
        answer = robust.post("login", email="ann@example.com", password=PASSWORD)

    assert answer.error == (500, "INTERNAL_ERROR")
