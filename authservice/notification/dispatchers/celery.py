"""Dispatch with Celery, for several machines: a job survives the crash of the process that runs it.

A thread publishes the job, so that no request waits: connecting to an unavailable broker takes
seconds. Monitoring tools see the kind and the request ID of a job, not the address.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from celery import shared_task  # type: ignore[import-untyped]
from django.utils import timezone

from authservice.kernel.message_queue import Message
from authservice.notification import worker
from authservice.notification.conf import conf, pause
from authservice.notification.dispatchers.background import Lanes


def _deliver(task: Any, job: dict[str, Any]) -> None:
    message = worker.from_dict(job)
    attempt = task.request.retries + 1
    fault = worker.attempt(message, attempt)
    if not fault:
        return
    undelivered = worker.Undelivered(message.kind, fault)
    if attempt > conf.retries:
        worker.give_up(message, attempt, fault)
        raise undelivered
    raise task.retry(
        exc=undelivered,
        countdown=pause(attempt).total_seconds(),
        max_retries=conf.retries,
        argsrepr=_shown(message),
    )


deliver: Any = shared_task(
    _deliver,
    bind=True,
    name="authservice.notification.deliver",
    acks_late=True,
    reject_on_worker_lost=True,
    ignore_result=True,
)


def _publish(message: Message, attempt: int) -> str:
    options: dict[str, Any] = {}
    try:
        if message.delay:
            due = datetime.fromisoformat(message.not_before)
            local = timezone.get_default_timezone()
            # With `USE_TZ = False`, times are naive and in `TIME_ZONE`; Celery would read them as
            # UTC.
            options["eta"] = timezone.make_aware(due, local) if timezone.is_naive(due) else due
        if message.is_notice and conf.notice_queue:
            options["queue"] = conf.notice_queue
        # Packages for tenants read the restored state when a task is published. `retry=False`,
        # because the thread has retries of its own.
        with worker.restored(message):
            deliver.apply_async(
                (worker.to_dict(message),),
                argsrepr=_shown(message),
                retry=False,
                **options,
            )
    except Exception as error:
        return worker.failed(message, attempt, error)
    return ""


def _shown(message: Message) -> str:
    return f"({message.kind!r}, {message.request_id!r})"


dispatch = Lanes(_publish).put
