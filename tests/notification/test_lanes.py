"""Notices have another queue than messages that a user waits for."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from authservice.kernel.message_queue import Message
from authservice.notification import dispatchers, worker
from authservice.notification.dispatchers import background, celery
from authservice.notification.dispatchers.background import Lanes
from tests.support import needs

NOTICE = Message(kind="password-changed", target="ann@example.com")


@pytest.fixture
def lanes(monkeypatch):
    """The queues of the thread dispatcher, emptied after the test."""
    made = Lanes(worker.attempt)
    monkeypatch.setattr(background, "lanes", made)
    yield made
    for lane in (made.notices, made.waited_for):
        lane.drain(timedelta(0))
        lane.drain()  # waits for the job that runs, which may still write to the database


def is_reset(raw):
    return b"choose a new password" in raw


@pytest.mark.django_db(transaction=True)
@needs.several_writers
def test_reset_email_is_sent_while_many_notices_wait_for_a_slow_mail_server(
    api, mark_verified, sink, mail_to, configure, lanes, eventually, logged
):
    mark_verified()
    sink.seconds = 0.15
    mail_to(sink.port)
    configure(NOTIFICATION={"DISPATCHER": "thread", "QUEUE_SIZE": 100}, THROTTLE={"ENABLED": False})
    for _ in range(260):
        dispatchers.messenger.send(NOTICE)
    start = time.monotonic()

    assert api.post("forgot-password", email="ann@example.com").status == 200

    eventually(lambda: any(is_reset(raw) for raw in sink.raw), 5)
    assert time.monotonic() - start < 5
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
def test_message_that_no_user_waits_for_is_a_notice(message, is_notice):
    assert message.is_notice is is_notice


def test_deferred_job_waits_until_it_is_due(lanes, eventually, monkeypatch):
    ran = []
    lanes = Lanes(lambda job, _: ran.append(job.kind) or "")
    lanes.put(Message(kind="later", target="a"), timedelta(seconds=0.2))
    lanes.put(Message(kind="now", target="a"))

    eventually(lambda: ran == ["now"])
    eventually(lambda: ran == ["now", "later"])
    lanes.drain()


def test_deferred_job_runs_when_the_queues_are_drained():
    ran = []
    lanes = Lanes(lambda job, _: ran.append(job.kind) or "")
    lanes.put(Message(kind="later", target="a"), timedelta(hours=1))

    lanes.drain()

    assert ran == ["later"]


def test_delay_of_a_job_is_the_time_until_it_is_due(clock):
    job = Message(kind="new-devices", target="a", not_before="2030-01-01T12:10:00+00:00")

    assert job.delay == timedelta(minutes=10)
    clock.forward(minutes=11)
    assert job.delay == timedelta(0)


@pytest.fixture
def published(monkeypatch):
    """`published(message)` is the options with which Celery publishes a job."""
    options = []
    monkeypatch.setattr(celery.deliver, "apply_async", lambda _, **more: options.append(more))

    def publish(message):
        assert celery._publish(message, 1) == ""
        return options[-1]

    return publish


def test_celery_notice_goes_to_the_queue_for_notices(published, notify):
    notify(NOTICE_QUEUE="notices")

    assert published(NOTICE)["queue"] == "notices"
    assert "queue" not in published(Message(kind="reset-link", target="a"))


def test_celery_notice_goes_to_the_default_queue_if_no_queue_is_set(published):
    assert "queue" not in published(NOTICE)


def test_celery_job_has_the_time_at_which_it_is_due(published, clock):
    job = Message(kind="new-devices", target="a", not_before="2030-01-01T12:10:00+00:00")

    assert published(job)["eta"].isoformat() == job.not_before
    assert "eta" not in published(NOTICE)


def test_celery_job_of_a_host_with_naive_times_is_due_in_its_time_zone(published, settings):
    settings.USE_TZ, settings.TIME_ZONE = False, "Asia/Kathmandu"  # 5:45 ahead of UTC
    job = Message(kind="new-devices", target="a", not_before="2999-01-01T12:00:00")

    # Celery would read a time without a zone as UTC.
    assert published(job)["eta"] == datetime(2999, 1, 1, 6, 15, tzinfo=UTC)
