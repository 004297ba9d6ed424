"""Send a security notice again if it was lost before its link was issued.

Queues lose jobs: a queue in memory is bounded and ends with its process. An attacker who fills it
could change the phone number of a victim, who would never get the link that undoes the change. The
row of that link was written in the transaction of the change, with the job. While the row has no
digest, no mail with its link was sent.

`attempts` of the row is the number of its pause: the job is enqueued 15 minutes after the change,
then after 30, 60 and so on. Several processes may check at the same time, and a conditional UPDATE
decides which one enqueues it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from time import monotonic
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from authservice.core.credentials import one_time
from authservice.core.models import OneTimeToken
from authservice.kernel import clock, databases, message_queue, outages
from authservice.kernel.client import Client
from authservice.kernel.message_queue import Message

logger = logging.getLogger("authservice.messages")

# Longer than the retries of a job take by default, so that most jobs are not sent twice.
PAUSE = timedelta(minutes=15)
TRIES = 9  # after 15 minutes, 30 minutes, …, 64 hours; the links are valid for 72 hours
BATCH = 100
_LEAST = timedelta(hours=1)  # how long a link must still be valid
_BETWEEN = 60.0  # seconds between two checks in one process
_next_check = monotonic() + _BETWEEN


@dataclass(frozen=True)
class Job:
    """What the row of a link keeps of the job, to enqueue it again."""

    kind: str
    client: Client
    details: Mapping[str, Any]

    def kept(self) -> dict[str, Any]:
        """JSON values for the payload of the row."""
        return {
            "kind": self.kind,
            "language": self.client.language,
            "request_id": self.client.request_id,
            "details": dict(self.details),
        }


def check() -> None:
    """Send lost notices again, at most once a minute in each process; called by the worker.

    Never raises: the worker has another message to send.
    """
    global _next_check
    if monotonic() < _next_check:
        return
    _next_check = monotonic() + _BETWEEN
    try:
        send_again()
    except Exception as error:
        # A traceback says nothing about a database that is not available.
        traced = not outages.is_outage(error)
        logger.error("Could not check for lost notices: %s", error, exc_info=traced)


@clock.once
def send_again() -> int:
    """Enqueue the jobs of lost notices, the oldest of each user first; returns their number."""
    if not message_queue.can_mail():
        return 0
    claimed = [(row, pause) for row in _lost()[:BATCH] if (pause := _claim(row))]
    for row, pause in claimed:
        _enqueue(row, pause)
    return len(claimed)


def may_issue(row: OneTimeToken, message: Message) -> bool:
    """Whether this job may issue the token of the link. A retry of a job may; another job of the
    same notice may not, since the link in its mail would stop working."""
    return row.digest is None or row.payload.get("sent_by", 0) == message.details.get("again", 0)


def issued_by(message: Message) -> dict[str, Any]:
    """What the payload of the row says of the job that issued the token."""
    return {"sent_by": message.details.get("again", 0)}


def _lost() -> QuerySet[OneTimeToken]:
    now = clock.now()
    due = Q()
    for pause in range(TRIES):
        due |= Q(attempts=pause, created_at__lte=now - PAUSE * 2**pause)
    open_rows = _rows().filter(
        digest=None, spent_at=None, attempts__lt=TRIES, expires_at__gt=now + _LEAST
    )
    # An account with many lost notices must not delay those of others.
    older = open_rows.filter(user=OuterRef("user"), created_at__lt=OuterRef("created_at"))
    return open_rows.filter(due).exclude(Exists(older)).order_by("created_at")


def _claim(row: OneTimeToken) -> int:
    """The number of the next pause, or 0 if another process claimed the row."""
    elapsed = clock.now() - row.created_at
    # Skip pauses that are over, if no worker looked for hours. The next retry is at least 15
    # minutes away.
    pause = next(it for it in count(row.attempts + 1) if PAUSE * 2**it >= elapsed + PAUSE)
    unchanged = _rows().filter(pk=row.pk, attempts=row.attempts, digest=None, spent_at=None)
    return pause if unchanged.update(attempts=pause) else 0


def _enqueue(row: OneTimeToken, pause: int) -> None:
    job = row.payload["job"]
    again = {"notice": str(row.pk), "again": pause}
    message_queue.send(
        job["kind"],
        row.payload["email"],
        Client(language=job["language"], request_id=job["request_id"]),
        using=databases.primary(),
        details={**job["details"], **again},
    )


def _rows() -> QuerySet[OneTimeToken]:
    return OneTimeToken.objects.filter(purpose=one_time.SECURE.name, target_key="")
