"""An exception nobody foresaw: told to the host, hidden from the caller."""

import logging

import pytest
from django.core.signals import got_request_exception
from django.db import DatabaseError, connection

from tests.client import PASSWORD
from tests.contract.shapes import is_refusal

pytestmark = pytest.mark.django_db


@pytest.fixture
def crash(robust, monkeypatch):
    """A sign-up that fails in its rule; gives the answer."""

    def fail(*_):
        raise RuntimeError("the secret plum")

    monkeypatch.setattr("authservice.core.login.signup.sign_up", fail)

    def crash():
        body = {"email": "ann@example.com", "password": PASSWORD}
        return robust.request("POST", "signup", body, headers={"X-Request-ID": "trace-1"})

    return crash


def test_it_is_internal_error_in_the_envelope(crash):
    assert is_refusal(crash(), 500, "INTERNAL_ERROR")


def test_nothing_of_it_is_leaked(crash):
    answer = crash()

    assert "plum" not in answer.response.content.decode() + str(answer.headers)
    assert "Error" not in answer.data["message"]


def test_it_is_not_leaked_in_debug_mode_either(crash, settings):
    settings.DEBUG = True

    assert "plum" not in crash().response.content.decode()


def test_error_trackers_hear_of_it(crash):
    heard = []

    def receive(request, **_):
        heard.append(request.path)

    got_request_exception.connect(receive)
    crash()
    got_request_exception.disconnect(receive)

    assert heard == ["/auth/signup"]


def test_the_log_has_the_request_id_and_the_trace(crash, caplog):
    crash()

    (record,) = [one for one in caplog.records if one.name == "authservice.request"]
    assert record.levelno == logging.ERROR
    assert "trace-1" in record.getMessage()
    assert "the secret plum" in str(record.exc_info[1])


def test_the_log_does_not_have_the_password(crash, caplog):
    crash()

    assert PASSWORD not in caplog.text


def test_the_answer_carries_the_request_id(crash):
    assert crash().headers["X-Request-ID"] == "trace-1"


def test_a_database_that_fails_is_internal_error(robust, monkeypatch):
    def fail(*_):
        raise DatabaseError("relation authservice_core_account does not exist")

    monkeypatch.setattr(connection, "cursor", fail)

    answer = robust.post("login", email="ann@example.com", password=PASSWORD)

    assert is_refusal(answer, 500, "INTERNAL_ERROR")
