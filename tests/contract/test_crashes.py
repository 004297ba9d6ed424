"""An unexpected exception is reported to the host and hidden from the client."""

import logging

import django
import pytest
from django.core.signals import got_request_exception
from django.db import DatabaseError, connection

from tests.contract.shapes import is_refusal
from tests.support.client import PASSWORD

pytestmark = pytest.mark.django_db


@pytest.fixture
def crash(robust, monkeypatch):
    """Send a sign-up that raises an exception; returns the response."""

    def fail(*_):
        raise RuntimeError("the secret plum")

    monkeypatch.setattr("authservice.core.login.signup.sign_up", fail)

    def crash():
        body = {"email": "ann@example.com", "password": PASSWORD}
        return robust.request("POST", "signup", body, headers={"X-Request-ID": "trace-1"})

    return crash


def test_unexpected_exception_is_internal_error_in_the_envelope(crash):
    assert is_refusal(crash(), 500, "INTERNAL_ERROR")


def test_unexpected_exception_is_not_shown_to_the_client(crash):
    answer = crash()

    assert "plum" not in answer.response.content.decode() + str(answer.headers)
    assert "Error" not in answer.data["message"]


def test_unexpected_exception_is_not_shown_in_debug_mode(crash, settings):
    settings.DEBUG = True

    assert "plum" not in crash().response.content.decode()


def test_unexpected_exception_sends_got_request_exception(crash):
    received = []

    def receive(request, **_):
        received.append(request.path)

    got_request_exception.connect(receive)
    crash()
    got_request_exception.disconnect(receive)

    assert received == ["/auth/signup"]


def test_unexpected_exception_is_logged_with_request_id_and_trace(crash, caplog):
    crash()

    (record,) = [one for one in caplog.records if one.name == "django.request"]
    assert record.levelno == logging.ERROR
    assert "trace-1" in record.getMessage()
    assert "the secret plum" in str(record.exc_info[1])


def test_unexpected_exception_is_mailed_to_the_admins_with_its_trace(crash, settings, mailoutbox):
    ops = "ops@example.com"
    settings.ADMINS = [ops if django.VERSION >= (6, 0) else ("Ops", ops)]

    crash()

    (mail,) = mailoutbox
    assert "Internal Server Error: " in mail.subject
    assert "/auth/signup (request trace-1)" in mail.subject
    assert "RuntimeError" in mail.body
    assert "the secret plum" in mail.body
    assert PASSWORD not in mail.body


def test_unexpected_exception_is_logged_without_the_password(crash, caplog):
    crash()

    assert PASSWORD not in caplog.text


def test_unexpected_exception_response_has_the_request_id(crash):
    assert crash().headers["X-Request-ID"] == "trace-1"


def test_database_error_is_internal_error(robust, monkeypatch):
    def fail(*_):
        raise DatabaseError("relation authservice_core_account does not exist")

    monkeypatch.setattr(connection, "cursor", fail)

    answer = robust.post("login", email="ann@example.com", password=PASSWORD)

    assert is_refusal(answer, 500, "INTERNAL_ERROR")
