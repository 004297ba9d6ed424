"""The database cannot be reached: every request is refused with 503 and `Retry-After`."""

import pytest
from django.db import OperationalError, connection

from tests.support.client import PASSWORD

pytestmark = pytest.mark.django_db(transaction=True)
AWAY = (503, "SERVICE_UNAVAILABLE")
ROUTES = {
    "GET me": ("GET", "me", None),
    "POST login": ("POST", "login", {"email": "ann@example.com", "password": PASSWORD}),
    "POST signup": ("POST", "signup", {"email": "bob@example.com", "password": PASSWORD}),
}
server = pytest.mark.skipif(
    connection.vendor == "sqlite", reason="SQLite is no server that goes away"
)


@pytest.fixture
def away(monkeypatch):
    """Call it to refuse all connections to the database from then on."""

    def away():
        connection.close()
        monkeypatch.setitem(connection.settings_dict, "HOST", "127.0.0.1")
        monkeypatch.setitem(connection.settings_dict, "PORT", "1")

    yield away
    connection.close()
    monkeypatch.undo()


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
def test_service_recovers_by_itself(robust, away, monkeypatch):
    robust.sign_up()
    away()
    assert robust.post("login", email="ann@example.com", password=PASSWORD).error == AWAY
    monkeypatch.undo()

    robust.log_in()


def test_statement_that_a_database_refuses_is_500(robust):
    def refuse(*_):
        raise OperationalError("no such table")

    with connection.execute_wrapper(refuse):
        answer = robust.post("login", email="ann@example.com", password=PASSWORD)

    assert answer.error == (500, "INTERNAL_ERROR")
