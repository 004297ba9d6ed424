"""Notices do not share a queue with messages that a user waits for."""

import time
from datetime import timedelta

import django
import pytest

from authservice.kernel.message_queue import Message
from authservice.notification import messenger, worker
from authservice.notification.dispatchers import celery, thread
from authservice.notification.dispatchers.lanes import Lanes

NOTICE = Message(kind="password-changed", target="ann@example.com")


@pytest.fixture
def mail_to(settings):
    """`mail_to(port)` lets the project mail by SMTP."""

    def change(port):
        backend = "django.core.mail.backends.smtp.EmailBackend"
        if django.VERSION >= (6, 1):
            options = {"host": "127.0.0.1", "port": port}
            settings.MAILERS = {"default": {"BACKEND": backend, "OPTIONS": options}}
            return
        settings.EMAIL_BACKEND = backend
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", port

    return change


@pytest.fixture
def lanes(monkeypatch):
    """The queues of the thread dispatcher, emptied after the test."""
    made = Lanes(worker.attempt)
    monkeypatch.setattr(thread, "lanes", made)
    yield made
    for lane in (made.notices, made.waited_for):
        lane.drain(timedelta(0))


def is_reset(raw):
    return b"choose a new password" in raw


@pytest.mark.django_db(transaction=True)
def test_a_reset_mail_arrives_while_many_notices_wait_for_a_slow_mail_server(
    api, proven, sink, mail_to, configure, lanes, eventually, logged
):
    proven()
    sink.seconds = 0.15
    mail_to(sink.port)
    configure(NOTIFICATION={"DISPATCHER": "thread", "QUEUE_SIZE": 100}, THROTTLE={"ENABLED": False})
    for _ in range(260):
        messenger.messenger.send(NOTICE)
    begun = time.monotonic()

    assert api.post("forgot-password", email="ann@example.com").status == 200

    eventually(lambda: any(is_reset(raw) for raw in sink.raw), 5)
    assert time.monotonic() - begun < 5
    assert len(sink.raw) < 100  # most notices still wait
    assert logged("Lost reset-link") == []
    assert len(logged("Lost password-changed")) >= 100


@pytest.mark.parametrize(
    ("message", "is_notice"),
    [
        (NOTICE, True),
        (Message(kind="new-device", target="a"), True),
        (Message(kind="two-factor-disabled", target="a"), True),
        (Message(kind="verify-email", target="a"), False),
        (Message(kind="reset-link", target="a"), False),
        (Message(kind="account-made", target="a"), False),
        (Message(kind="magic-link", target="a", requested=True), False),
    ],
)
def test_what_nobody_waits_for_is_a_notice(message, is_notice):
    assert message.is_notice is is_notice


def test_a_job_for_later_waits_until_it_is_due(lanes, eventually, monkeypatch):
    ran = []
    lanes = Lanes(lambda job, _: bool(ran.append(job.kind)) or True)
    lanes.put(Message(kind="later", target="a"), timedelta(seconds=0.2))
    lanes.put(Message(kind="now", target="a"))

    eventually(lambda: ran == ["now"])
    eventually(lambda: ran == ["now", "later"])
    lanes.drain()


def test_a_job_for_later_runs_when_the_process_ends():
    ran = []
    lanes = Lanes(lambda job, _: bool(ran.append(job.kind)) or True)
    lanes.put(Message(kind="later", target="a"), timedelta(hours=1))

    lanes.drain()

    assert ran == ["later"]


def test_the_delay_of_a_job_is_the_time_until_it_may_run(clock):
    job = Message(kind="new-devices", target="a", not_before="2030-01-01T12:10:00+00:00")

    assert job.delay == timedelta(minutes=10)
    clock.forward(minutes=11)
    assert job.delay == timedelta(0)


@pytest.fixture
def published(monkeypatch):
    """The options that Celery is given for a job."""
    options = []
    monkeypatch.setattr(celery.deliver, "apply_async", lambda _, **more: options.append(more))

    def publish(message):
        assert celery._publish(message, 1)
        return options[-1]

    return publish


def test_celery_gets_notices_for_their_own_queue(published, notify):
    notify(NOTICE_QUEUE="notices")

    assert published(NOTICE)["queue"] == "notices"
    assert "queue" not in published(Message(kind="reset-link", target="a"))


def test_celery_gets_notices_for_the_default_queue_where_no_other_is_named(published):
    assert "queue" not in published(NOTICE)


def test_celery_is_told_when_a_job_is_due(published, clock):
    job = Message(kind="new-devices", target="a", not_before="2030-01-01T12:10:00+00:00")

    assert published(job)["eta"].isoformat() == job.not_before
    assert "eta" not in published(NOTICE)
