"""Django's own tasks as the dispatcher."""

import django
import pytest
from django.core.exceptions import ImproperlyConfigured

from authservice.kernel.message_queue import Message
from authservice.notification.dispatchers import messenger

pytestmark = [
    pytest.mark.skipif(django.VERSION < (6, 0), reason="Django has no tasks before 6.0"),
    pytest.mark.django_db(transaction=True),
]


@pytest.fixture
def tasks(notify, settings):
    """The module of the dispatcher; the backend runs each task at once when it is enqueued."""
    settings.TASKS = {"default": {"BACKEND": "django.tasks.backends.immediate.ImmediateBackend"}}
    notify(DISPATCHER="tasks", RETRIES=2, BACKOFF=0.01)
    from authservice.notification.dispatchers import tasks

    return tasks


def test_job_is_sent_as_an_email(ann, tasks, eventually, mailoutbox):
    messenger.send(Message(kind="reset-link", target="ann@example.com"))

    eventually(lambda: mailoutbox)
    assert "/reset-password?token=" in mailoutbox[0].body


def test_failing_job_is_retried_and_then_logged_as_lost(ann, phone, tasks, eventually, logged):
    messenger.send(Message(kind="verify-phone", target=phone, request_id="r1"))

    eventually(lambda: logged("Lost"))
    assert len(logged("Could not")) == 3
    assert ImproperlyConfigured.__name__ in logged("Could not")[0]
    assert logged("Lost") == [
        "Lost verify-phone of request r1: given up after attempt 3: ImproperlyConfigured"
    ]


def test_unavailable_backend_is_retried(ann, tasks, settings, eventually, logged):
    settings.TASKS = {"default": {"BACKEND": "no.such.backend"}}

    messenger.send(Message(kind="reset-link", target="ann@example.com", request_id="r1"))

    eventually(lambda: logged("Lost"))
    assert len(logged("Could not")) == 3
