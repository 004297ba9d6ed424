"""By Django's own tasks (6.0 and later), with whatever backend the project gives them.

The request leaves even the enqueuing to a thread, since a backend may be slow or away.
"""

from __future__ import annotations

import time
from typing import Any

from django.tasks import task
from django.utils import timezone

from authservice.kernel.messages import Message
from authservice.notification import losses, worker
from authservice.notification.conf import conf, pause
from authservice.notification.dispatchers.background import Background


@task
def deliver(job: dict[str, Any], attempt: int = 1) -> None:
    """Try the job; tasks know no retry, so a failed one is put off, or waited for."""
    message = worker.from_dict(job)
    while not worker.attempt(message, attempt):
        if attempt > conf.retries:
            losses.lost(message, f"given up after attempt {attempt}")
            raise losses.Undelivered(message.kind)
        if deliver.get_backend().supports_defer:
            deliver.using(run_after=timezone.now() + pause(attempt)).enqueue(job, attempt + 1)
            return
        time.sleep(pause(attempt).total_seconds())
        attempt += 1


def _enqueue(message: Message, attempt: int) -> bool:
    try:
        deliver.enqueue(worker.to_dict(message))
    except Exception as wrong:
        losses.failed(message, attempt, wrong)
        return False
    return True


dispatch = Background(_enqueue).put
