"""What lies in a queue: whom to write to and why, never a secret."""

import json
import re

import pytest
from django.core import mail

from authservice.core.messages import compose
from authservice.core.models import OneTimeToken
from authservice.kernel import message_queue
from authservice.kernel.client import Client
from authservice.kernel.message_queue import Message
from authservice.notification import worker
from tests.notification import dispatchers
from tests.notification.conftest import PHONE

pytestmark = pytest.mark.django_db

KINDS = sorted(compose._COMPOSERS)
TEXTS = {"verify-phone", "reset-code"}
FIELDS = {"kind", "target", "language", "request_id", "details", "requested", "not_before"}
# Kinds that are never sent without details, and that have no secret.
WITH_DETAILS = ("new-devices", "changed-by-staff")
CLIENT = Client(request_id="request-7", language="de")


@pytest.fixture
def jobs(notify, django_capture_on_commit_callbacks):
    """`jobs(kind)` is what a queue gets to see."""
    notify(DISPATCHER="tests.notification.dispatchers.keep", WELCOME=True)

    def ask(kind):
        dispatchers.taken.clear()
        with django_capture_on_commit_callbacks(execute=True):
            message_queue.send(kind, PHONE if kind in TEXTS else "ann@example.com", CLIENT)
        return [worker.to_dict(job) for job in dispatchers.taken]

    return ask


@pytest.mark.parametrize("kind", KINDS)
def test_a_job_is_kind_target_language_and_request(ann, phone, jobs, kind):
    [job] = jobs(kind)

    assert job == {
        "kind": kind,
        "target": PHONE if kind in TEXTS else "ann@example.com",
        "language": "de",
        "request_id": "request-7",
        "details": {},
        "requested": False,
        "not_before": "",
    }
    assert not OneTimeToken.objects.exists()


@pytest.mark.parametrize("kind", KINDS)
def test_a_job_is_the_same_for_somebody_unknown(db, jobs, kind):
    [job] = jobs(kind)

    assert set(job) == FIELDS


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in WITH_DETAILS])
def test_the_secret_of_a_letter_was_not_in_its_job(ann, phone, notify, jobs, kind, tmp_path):
    [job] = jobs(kind)
    letter = compose.compose(worker.from_dict(job))
    said = {} if letter is None else letter.context
    secrets = [said[name].reveal() for name in ("code", "link") if name in said]

    assert not any(
        re.search(r"[\w-]{43}", secret)[0] in json.dumps(job)
        if "token=" in secret
        else secret in job
        for secret in secrets
    )


def test_a_job_survives_the_way_through_a_queue():
    job = Message(kind="new-device", target="ann@example.com", details={"at": "2030-01-01"})

    assert worker.from_dict(json.loads(json.dumps(worker.to_dict(job)))) == job


def test_a_job_tried_again_mints_anew(ann, mailoutbox):
    job = Message(kind="reset-link", target="ann@example.com")

    worker.deliver(job)
    worker.deliver(job)

    assert mail.outbox[0].body != mail.outbox[1].body


def test_nothing_is_sent_before_the_deed_is_done(ann, notify, mailoutbox):
    notify(DISPATCHER="inline")

    message_queue.send("reset-link", "ann@example.com", CLIENT)

    assert mailoutbox == []
