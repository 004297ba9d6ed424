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
from authservice.notification import failures, worker
from authservice.notification.conf import conf, pause
from authservice.notification.dispatchers.background import Lanes

_LOW = -50  # on a scale from -100 to 100; other messages have 0


@task
def deliver(job: dict[str, Any], attempt: int = 1) -> None:
    """Run the job. Tasks have no retry: a failed job is deferred, or retried here after a pause."""
    message = worker.from_dict(job)
    while fault := worker.attempt(message, attempt):
        if attempt > conf.retries:
            failures.given_up(message, attempt, fault)
            raise failures.Undelivered(message.kind, fault)
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
    except Exception as wrong:
        return failures.failed(message, attempt, wrong)
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
    lanes.put(message, timedelta(0) if _can_defer() else message.delay)


def _can_defer() -> bool:
    # If the backend is not available, the request must not fail: the thread does, and retries.
    with suppress(Exception):
        return bool(deliver.get_backend().supports_defer)
    return False
