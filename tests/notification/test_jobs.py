"""A job in a queue contains the recipient and the kind of the message, never a secret."""

import errno
import json
import re
from datetime import timedelta
from smtplib import SMTPAuthenticationError

import pytest
from django.core import mail

from authservice.core.messages import compose
from authservice.core.models import LostMessage, OneTimeToken
from authservice.kernel import message_queue
from authservice.kernel.client import Client
from authservice.kernel.message_queue import Message
from authservice.notification import conf, worker
from tests.notification import dispatchers
from tests.notification.conftest import PHONE

pytestmark = pytest.mark.django_db

KINDS = sorted(compose._COMPOSERS)
SMS = {"verify-phone", "reset-code"}
FIELDS = {"kind", "target", "language", "request_id", "details", "requested", "not_before"}
# Kinds that are never sent without details, and that have no secret.
WITH_DETAILS = ("new-devices", "changed-by-staff")
CLIENT = Client(request_id="request-7", language="de")


@pytest.fixture
def jobs(notify, django_capture_on_commit_callbacks):
    """`jobs(kind)` sends a message and lists the jobs that the queue receives."""
    notify(DISPATCHER="tests.notification.dispatchers.keep", WELCOME=True)

    def send(kind):
        dispatchers.kept.clear()
        with django_capture_on_commit_callbacks(execute=True):
            message_queue.send(kind, PHONE if kind in SMS else "ann@example.com", CLIENT)
        return [worker.to_dict(job) for job in dispatchers.kept]

    return send


@pytest.mark.parametrize("kind", KINDS)
def test_job_contains_kind_target_language_and_request(ann, phone, jobs, kind):
    [job] = jobs(kind)

    assert job == {
        "kind": kind,
        "target": PHONE if kind in SMS else "ann@example.com",
        "language": "de",
        "request_id": "request-7",
        "details": {},
        "requested": False,
        "not_before": "",
    }
    assert not OneTimeToken.objects.exists()


@pytest.mark.parametrize("kind", KINDS)
def test_job_has_the_same_fields_for_an_unknown_target(db, jobs, kind):
    [job] = jobs(kind)

    assert set(job) == FIELDS


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in WITH_DETAILS])
def test_secret_of_a_message_is_not_in_its_job(ann, phone, notify, jobs, kind, tmp_path):
    [job] = jobs(kind)
    outgoing = compose.compose(worker.from_dict(job))
    context = {} if outgoing is None else outgoing.context
    secrets = [context[name].reveal() for name in ("code", "link") if name in context]

    assert not any(
        re.search(r"[\w-]{43}", secret)[0] in json.dumps(job)
        if "token=" in secret
        else secret in job
        for secret in secrets
    )


def test_job_is_unchanged_by_serialisation():
    job = Message(kind="new-device", target="ann@example.com", details={"at": "2030-01-01"})

    assert worker.from_dict(json.loads(json.dumps(worker.to_dict(job)))) == job


def test_job_of_a_later_version_is_read_without_the_fields_that_are_new():
    """After a rollback, the queue still has such jobs."""
    job = Message(kind="reset-link", target="ann@example.com")

    assert worker.from_dict({**worker.to_dict(job), "priority": 3}) == job


def test_job_of_an_unknown_kind_is_retried_and_then_kept(ann, mailoutbox):
    job = Message(kind="of-a-later-version", target="ann@example.com")

    fault = worker.attempt(job, 9)
    worker.give_up(job, 9, fault)

    assert fault == "UnknownKind"
    assert [row.kind for row in LostMessage.objects.all()] == [job.kind]
    assert mailoutbox == []


def test_retried_job_issues_new_secrets(ann, mailoutbox):
    job = Message(kind="reset-link", target="ann@example.com")

    worker.deliver(job)
    worker.deliver(job)

    assert mail.outbox[0].body != mail.outbox[1].body


def test_message_is_not_sent_before_the_commit(ann, notify, mailoutbox):
    notify(DISPATCHER="inline")

    message_queue.send("reset-link", "ann@example.com", CLIENT)

    assert mailoutbox == []


def failing(error, cause=None):
    def send(outgoing):
        if cause is None:
            raise error
        raise error from cause

    return send


@pytest.mark.parametrize(
    ("send", "fault"),
    [
        (failing(OSError(errno.ENETUNREACH, "ann@example.com")), "OSError (ENETUNREACH)"),
        (failing(OSError("ann@example.com")), "OSError"),
        (failing(TimeoutError(errno.ETIMEDOUT, "late")), "TimeoutError"),
        (failing(SMTPAuthenticationError(535, b"secret")), "SMTPAuthenticationError (535)"),
        (
            failing(RuntimeError("ann@example.com"), KeyError("secret")),
            "RuntimeError caused by KeyError",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_fault_of_a_job_names_class_code_and_cause_without_the_text(
    ann, logged, monkeypatch, send, fault
):
    monkeypatch.setitem(worker._SENDERS, "email", send)

    job = Message(kind="reset-link", target="ann@example.com", request_id="r1")

    found = worker.attempt(job, 1)

    assert found == fault
    [line] = logged()
    assert line.startswith(
        f"Could not send reset-link of request r1, attempt 1: {fault} at {__file__}"
    )
    assert "ann@example.com" not in line
    assert "secret" not in line


@pytest.mark.parametrize("backoff", [timedelta(0), timedelta(microseconds=1), timedelta(days=9)])
def test_pause_is_at_most_an_hour_after_any_number_of_attempts(configure, backoff):
    configure(NOTIFICATION={"BACKOFF": backoff})
    longest = timedelta(hours=1)

    pauses = [conf.pause(attempt) for attempt in (1, 2, 45, 1000, 100_000)]

    assert pauses[0] == min(backoff, longest)
    assert pauses[1] == min(2 * backoff, longest)
    assert pauses[2:] == [longest if backoff else backoff] * 3
