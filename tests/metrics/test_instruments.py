"""Each instrument moves for its event, once."""

import re

import pytest
from django.db import connection, transaction
from django.test import TestCase
from django.test.utils import CaptureQueriesContext

from authservice.core.credentials import passwords
from authservice.kernel import databases, errors, events
from authservice.kernel.client import Client
from authservice.kernel.message_queue import Message
from authservice.kernel.outbound import OutboundError, http_client
from authservice.metrics import instruments
from authservice.notification import worker
from tests.metrics.conftest import points
from tests.notification.servers import Gateway
from tests.support.client import PASSWORD
from tests.support.mailing import mail_settings
from tests.support.people import make_user
from tests.support.ports import free_port
from tests.twofactor.people import Person

pytestmark = pytest.mark.django_db

ANN = "ann@example.com"


def test_login_is_counted_by_method_outcome_and_reason(api, counted):
    api.sign_up()
    api.log_in()
    api.post("login", email=ANN, password="wrong")
    api.post("login", email="nobody@example.com", password="wrong")

    failed = {"outcome": "failed", "reason": "invalid_credentials"}
    assert counted("signups") == [{"method": "password", "number": 1}]
    assert counted("logins") == [
        {"method": "password", **failed, "number": 2},
        {"method": "password", "outcome": "success", "reason": "", "number": 1},
    ]


def test_second_factor_is_counted_by_method_and_outcome(api, counted):
    ann = Person(api).sign_up().enrol()
    challenge = ann.temp_token()
    ann.verify_login(ann.wrong_code(), challenge)
    ann.verify_login(ann.backup_codes[0], challenge)
    ann.verify_login(ann.backup_codes[1], challenge)  # the challenge is used up

    assert [(it["outcome"], it["number"]) for it in counted("logins")] == [
        ("challenged", 1),
        ("success", 1),
    ]
    assert counted("second_factors") == [
        {"method": "backup_code", "outcome": "success", "number": 1},
        {"method": "totp", "outcome": "failed", "number": 1},
        {"method": "unknown", "outcome": "failed", "number": 1},
    ]


def test_refresh_and_reuse_are_counted(api, counted, time_machine):
    time_machine.move_to("2030-01-01T12:00:00Z", tick=False)
    first = api.sign_up()["refresh_token"]
    api.post("refresh", refresh_token=first)
    time_machine.shift(600)
    api.post("refresh", refresh_token=first)

    assert counted("refreshes") == [{"number": 1}]
    assert counted("refresh_reuses") == [{"number": 1}]


def test_limit_on_attempts_is_counted_once(api, counted):
    for _ in range(12):
        last = api.post("login", email=ANN, password="wrong")

    assert last.status == 429
    assert counted("lockouts") == [{"method": "password", "number": 1}]


def test_login_that_is_rolled_back_is_not_counted(counted):
    with TestCase.captureOnCommitCallbacks(execute=True):
        try:
            with transaction.atomic(using=databases.primary()):
                events.record("auth.login.success", None, Client(), method="password")
                raise ZeroDivisionError
        except ZeroDivisionError:
            pass

    assert counted("logins") == []


@pytest.fixture
def mails(counted, settings):
    settings.INSTALLED_APPS = [*settings.INSTALLED_APPS, "authservice.notification"]


def test_sent_failed_and_lost_messages_are_counted(mails, counted, settings):
    job = Message(kind="welcome", target=ANN)
    make_user()
    worker.deliver(job)
    for name, value in mail_settings("smtp", host="127.0.0.1", port=free_port()).items():
        setattr(settings, name, value)
    fault = worker.attempt(job, 1)
    worker.give_up(job, 1, fault)

    named = {"channel": "email", "kind": "welcome"}
    assert counted("messages") == [
        {**named, "outcome": outcome, "number": 1} for outcome in ("failed", "lost", "sent")
    ]


def test_message_that_no_queue_takes_is_counted_as_lost(mails, api, counted, configure):
    configure(NOTIFICATION={"DISPATCHER": "tests.metrics.test_instruments.refuse"})
    api.sign_up()

    assert {(it["kind"], it["outcome"]) for it in counted("messages")} == {("verify-email", "lost")}


def refuse(message):
    raise ConnectionRefusedError


def test_wait_for_a_hash_is_measured(counted, reader, configure, monkeypatch):
    configure(CORE={"HASHES_IN_FLIGHT": 1})
    monkeypatch.setattr(passwords, "WAIT", 0.05)
    with passwords.hash_slot(), pytest.raises(errors.ServiceUnavailable):
        passwords.run_hash(int)

    assert counted("password_hash.wait") == [
        {"outcome": "hashed", "number": 1},
        {"outcome": "refused", "number": 1},
    ]
    (waited,) = [
        point.max
        for name, point in points(reader)
        if name == "authservice.password_hash.wait" and point.attributes["outcome"] == "refused"
    ]
    assert 0.05 <= waited < 1


def test_call_of_another_service_is_measured(counted, configure):
    loopback = {"PRIVATE_HOSTS": ["127.0.0.1"], "INSECURE_HOSTS": ["127.0.0.1"]}
    configure(OUTBOUND=loopback)
    address = f"http://127.0.0.1:{free_port()}/"
    with pytest.raises(OutboundError):
        http_client.get(address, service="acme")
    with Gateway() as server:
        http_client.post_json(server.url, {}, service="sms-webhook")

    assert counted("outbound.duration") == [
        {"outcome": "2xx", "service": "sms-webhook", "number": 1},
        {"outcome": "Unreachable", "service": "acme", "number": 1},
    ]


def test_requests_have_the_same_statements_as_without_the_module(api, settings):
    def story(email):
        tokens = api.sign_up(email)
        api.log_in(email)
        api.post("login", email=email, password="wrong")
        api.post("refresh", refresh_token=tokens["refresh_token"])
        api.post("logout", token=tokens["access_token"])

    def statements_of(email):
        """Those of transactions too: a refresh has none."""
        with CaptureQueriesContext(connection) as captured:
            story(email)
        return [re.sub(r"\S*\d\S*|'.*?'", "…", query["sql"]) for query in captured]

    story("first@example.com")
    without = statements_of("bobby@example.com")
    settings.INSTALLED_APPS = [*settings.INSTALLED_APPS, "authservice.metrics"]
    story("second@example.com")

    assert statements_of("carla@example.com") == without
    assert len(without) > 20


def test_failing_provider_of_metrics_fails_no_login(api, counted, monkeypatch):
    class Failing:
        def add(self, *_):
            raise RuntimeError

    monkeypatch.setattr(instruments, "_COUNTED", {"auth.login.success": (Failing(), {}, ())})
    api.sign_up()

    assert api.post("login", email=ANN, password=PASSWORD).status == 200
