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
from authservice.notification import failures, worker
from authservice.notification.conf import conf, pause
from authservice.notification.dispatchers.background import Lanes


def _deliver(task: Any, job: dict[str, Any]) -> None:
    message, attempt = worker.from_dict(job), task.request.retries + 1
    fault = worker.attempt(message, attempt)
    if not fault:
        return
    undelivered = failures.Undelivered(message.kind, fault)
    if attempt > conf.retries:
        failures.given_up(message, attempt, fault)
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
    try:
        # `retry=False`, because the thread has retries of its own.
        with worker.restored(message):  # packages for tenants read it when a task is published
            deliver.apply_async(
                (worker.to_dict(message),),
                argsrepr=_shown(message),
                retry=False,
                **_options(message),
            )
    except Exception as wrong:
        return failures.failed(message, attempt, wrong)
    return ""


def _options(message: Message) -> dict[str, Any]:
    """When the job is due, and the queue of notices if the host configured one."""
    options: dict[str, Any] = {}
    if message.delay:
        options["eta"] = _aware(datetime.fromisoformat(message.not_before))
    if message.is_notice and conf.notice_queue:
        options["queue"] = conf.notice_queue
    return options


def _aware(due: datetime) -> datetime:
    """With `USE_TZ = False`, times are naive and in `TIME_ZONE`; Celery would read them as UTC."""
    local = timezone.get_default_timezone()
    return timezone.make_aware(due, local) if timezone.is_naive(due) else due


def _shown(message: Message) -> str:
    return f"({message.kind!r}, {message.request_id!r})"


dispatch = Lanes(_publish).put
