"""A request must not act for a session that ended while the request was being sent."""

import json
import socket
import time

import pytest
from django.contrib.auth import get_user_model
from django.db import connection

from authservice.core.credentials import passwords
from tests.support.client import BASE, PASSWORD, csrf_pair

pytestmark = pytest.mark.django_db(transaction=True)
NEW, STOLEN = "fig tart 43 doors", "evil tart 44 roofs"


def half_sent(server, token, body):
    """A connection on which all but the last byte of a request was sent, and that byte."""
    raw = json.dumps(body).encode()
    pair = "".join(f"{name}: {value}\r\n" for name, value in csrf_pair({}).items())
    head = (
        f"PUT {BASE}change-password HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        f"Authorization: Bearer {token}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(raw)}\r\n{pair}\r\n"
    )
    connection = socket.create_connection((server.thread.host, server.thread.port), timeout=20)
    connection.sendall(head.encode() + raw[:-1])
    time.sleep(0.5)
    return connection, raw[-1:]


def status(connection):
    answer = b""
    while chunk := connection.recv(65536):
        answer += chunk
    connection.close()
    return int(answer.split()[1])


def test_slow_request_of_an_ended_session_cannot_undo_a_changed_password(api, live_server):
    stolen = api.sign_up()["access_token"]
    own = api.log_in()["access_token"]
    body = {"old_password": PASSWORD, "new_password": STOLEN}
    connection, rest = half_sent(live_server, stolen, body)
    change = {"old_password": PASSWORD, "new_password": NEW}
    assert api.request("PUT", "change-password", change, token=own).status == 200

    connection.sendall(rest)

    assert status(connection) == 401
    assert api.log_in(password=NEW)


def test_password_changed_during_a_hash_upgrade_yields_no_valid_token(api, settings, monkeypatch):
    api.sign_up()
    settings.PASSWORD_HASHERS = list(reversed(settings.PASSWORD_HASHERS))
    make = passwords.make_password

    def make_while_changing(raw, *args, **options):
        user = get_user_model().objects.get()
        user.set_password(NEW)
        user.save()
        if connection.vendor != "sqlite":  # whose threads share the database in memory
            connection.close()  # passwords are hashed in threads of their own
        return make(raw, *args, **options)

    monkeypatch.setattr(passwords, "make_password", make_while_changing)
    answer = api.post("login", email="ann@example.com", password=PASSWORD)
    monkeypatch.undo()

    token = answer.data.get("access_token", "")
    assert api.get("me", token=token).status == 401
