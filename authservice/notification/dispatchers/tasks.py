"""Dispatch with Django's own tasks (6.0 and later), with any backend of the host project.

A thread enqueues the job, so that no request waits: a backend may be slow or unavailable.
"""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from django.tasks import task

from authservice.kernel import clock
from authservice.kernel.message_queue import Message
from authservice.notification import worker
from authservice.notification.conf import conf, pause
from authservice.notification.dispatchers.background import Lanes

_LOW = -50  # on a scale from -100 to 100; other messages have 0


@task
def deliver(job: dict[str, Any], attempt: int = 1) -> None:
    """Run the job. Django's tasks have no retry: a failed job is enqueued again for later or, if
    the backend cannot defer tasks, retried here after a pause."""
    message = worker.from_dict(job)
    while fault := worker.attempt(message, attempt):
        if attempt > conf.retries:
            worker.give_up(message, attempt, fault)
            raise worker.Undelivered(message.kind, fault)
        if deliver.get_backend().supports_defer:
            later = clock.now() + pause(attempt)
            deliver.using(run_after=later, **_options(message)).enqueue(job, attempt + 1)
            return
        time.sleep(pause(attempt).total_seconds())
        attempt += 1


def _enqueue(message: Message, attempt: int) -> str:
    try:
        options = _options(message)
        if message.delay and deliver.get_backend().supports_defer:
            options["run_after"] = datetime.fromisoformat(message.not_before)
        with worker.restored(message):
            deliver.using(**options).enqueue(worker.to_dict(message))
    except Exception as error:
        return worker.failed(message, attempt, error)
    return ""


def _options(message: Message) -> dict[str, Any]:
    """Options that make notices wait behind other messages: their own queue, or a low priority."""
    if not message.is_notice:
        return {}
    options: dict[str, Any] = {}
    if conf.notice_queue:
        options["queue_name"] = conf.notice_queue
    if deliver.get_backend().supports_priority:
        options["priority"] = _LOW
    return options


lanes = Lanes(_enqueue)


def dispatch(message: Message) -> None:
    can_defer = False
    # If the backend is not available, the request must not fail: the thread fails, and retries.
    with suppress(Exception):
        can_defer = bool(deliver.get_backend().supports_defer)
    # A backend that can defer gets the delay from `_enqueue`; for any other, the thread waits.
    lanes.put(message, timedelta(0) if can_defer else message.delay)
