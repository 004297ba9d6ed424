"""Notify the owner of an account of a change that an intruder may have made.

The mail to the proven address carries a link, "this was not me", that undoes the change, see
`secure_account`. The row of the link is a `OneTimeToken`: it is written in the transaction of the
change and stores the state before the change. The worker that sends the mail issues the token, so
that no queue holds a secret.

Queues lose jobs: a queue in memory is bounded and ends with its process. An attacker who fills it
could change the phone number of a victim, who would never get the link that undoes the change. So
the row of the link stores the job too. While the row has no digest, no mail with the link was sent,
and `check` enqueues the job again: 15 minutes after the change, then an hour after it, two and so
on. `resend_at` of the row is the end of its pause. Several processes may check at the same time,
and a conditional UPDATE decides which one enqueues the job.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count
from time import monotonic
from typing import Any

from django.db.models import Exists, Max, OuterRef, QuerySet

from authservice.core.credentials import one_time
from authservice.core.messages import compose as composing
from authservice.core.messages import kinds, mailed_links
from authservice.core.messages.compose import OutgoingMessage
from authservice.core.models import OneTimeToken
from authservice.core.users import identifiers, lookup
from authservice.core.users.person import Person
from authservice.kernel import clock, databases, message_queue
from authservice.kernel.client import Client
from authservice.kernel.message_queue import Message

logger = logging.getLogger("authservice.messages")

# The fields of an account that the link restores.
NUMBER = ("phone_number", "phone_key", "verified_phone_key", "phone_set_by")
NUMBER_TIMES = ("phone_added_at", "phone_verified_at")
PROOFS = ("verified_email_key", "proven_email_key")
PROOF_TIMES = ("email_proven_at",)

# Longer than the retries of a job take by default, so that most jobs are not sent twice. The pauses
# end after 15 minutes, an hour, two, …, 64 hours; the links are valid for 72 hours.
PAUSE = timedelta(minutes=15)
BATCH = 100  # notices that one check enqueues again
_LEAST = timedelta(hours=1)  # how long the link of a job that is enqueued again must still be valid
_BETWEEN = 60.0  # seconds between two checks in one process
_next_check = monotonic() + _BETWEEN


def state_of(person: Person, *, since: datetime | None = None) -> dict[str, Any]:
    """The current address and number, which the link of a notice restores, as JSON values.

    Call it before the change; `since` is when the change began, now by default.
    """
    account = person.account
    plain = {name: getattr(account, name) for name in (*NUMBER, *PROOFS)}
    times = {name: _iso(getattr(account, name)) for name in (*NUMBER_TIMES, *PROOF_TIMES)}
    return {"email": person.email, "since": _iso(since or clock.now()), **plain, **times}


@clock.once
def notify(
    kind: str,
    person: Person,
    client: Client,
    before: Mapping[str, Any],
    *,
    link: bool = True,
    **shown: str,
) -> None:
    """Notify the owner, in the transaction of the change; `before` is the `state_of` before it.
    `shown` are further values for the templates. Without `link` the mail cannot undo the change.

    An address that was not proven gets no mail: it may belong to another person, and anybody can
    create accounts with such addresses, so an attacker could fill the queue with notices to them.
    """
    using = databases.primary()
    details = {**message_queue.describe_client(client), **shown}
    email, number = before["email"], before["phone_number"]
    if email and before["proven_email_key"] == identifiers.email_key(email):
        if not link:
            # The account may have another address by the time at which the mail is composed.
            details["account"] = person.id
            message_queue.send(kind, email, client, using=using, details=details)
            return
        now = clock.now()
        # `created_at` must order the links like the changes, whose order the lock of the user
        # decides. `now` is when this request began, which may be before the last change.
        last_created_at = (
            _rows().filter(user=person.user.pk).aggregate(last=Max("created_at"))["last"]
        )
        created_at = max(now, last_created_at + timedelta.resolution) if last_created_at else now
        # The row of the link, without a token, and with the job, to enqueue it again.
        job = {
            "kind": kind,
            "language": client.language,
            "request_id": client.request_id,
            "details": dict(details),
        }
        row = _rows().create(
            purpose=one_time.SECURE.name,
            user_id=person.user.pk,
            payload={**before, "job": job},
            created_at=created_at,
            resend_at=created_at + PAUSE,
            expires_at=now + one_time.SECURE.link_ttl,
        )
        details["notice"] = str(row.pk)
        message_queue.send(kind, email, client, using=using, details=details)
        return

    verified = before["verified_phone_key"] == before["phone_key"]
    if kind == kinds.PHONE_CHANGED and number and verified and message_queue.can_sms():
        # No address is proven: only the former number can be notified.
        text_kind = kinds.PHONE_CHANGED_TEXT
        account = {"account": person.id}
        message_queue.send(text_kind, number, client, using=using, details=account)


def message_builders() -> Mapping[str, Callable[[Message], OutgoingMessage | None]]:
    """Fills the slot `message_builders`."""
    return {
        kinds.PASSWORD_CHANGED: compose,
        kinds.PHONE_CHANGED: compose,
        kinds.EMAIL_CONFIRMED: compose,
        kinds.EMAIL_CHANGE_REQUESTED: compose,
        kinds.EMAIL_CHANGED: compose,
        kinds.PHONE_CHANGED_TEXT: _compose_text,
    }


def compose(message: Message) -> OutgoingMessage | None:
    """Compose the notice, with its link if it has one, to the address that was proven."""
    notice = message.details.get("notice")
    row = None
    if notice:
        # Locked, so that only one of two concurrent jobs issues the token. A job that staff send
        # again may be older than its link.
        valid = _rows().filter(pk=notice, spent_at=None, expires_at__gt=clock.now())
        row = valid.select_for_update().first()
    if row is None:
        owner = lookup.find_by_id(message.details.get("account", ""))
        if owner is None:
            return composing.notice(message)
        return replace(composing.mail(message, owner), to=message.target)
    person = composing.reachable(lookup.find_by_pk(row.user_id))
    if person is None:
        return None
    # A retry of the job that issued the token may issue a new one. Another job of the same notice
    # may not, since the link in its mail would stop working.
    again = message.details.get("again", 0)
    if row.digest is not None and row.payload.get("sent_by", 0) != again:
        return None

    token = one_time.new_token()
    _rows().filter(pk=row.pk).update(
        digest=one_time.link_digest(one_time.SECURE, token),
        payload={**row.payload, "sent_by": again},
    )
    link = mailed_links.to_route("secure-account", token)
    time_left = composing.hours_until(row.expires_at)
    outgoing = composing.mail(message, person, link=link, expires_in=time_left)
    return replace(outgoing, to=message.target)


def _compose_text(message: Message) -> OutgoingMessage | None:
    person = composing.reachable(lookup.find_by_id(message.details["account"]))
    if person is None:
        return None
    return OutgoingMessage(
        kind=message.kind,
        channel="sms",
        to=message.target,
        person=person,
        language=message.language,
    )


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
        # The traceback of an outage of the database has no further information.
        traced = not databases.is_outage(error)
        logger.error("Could not check for lost notices: %s", error, exc_info=traced)


@clock.once
def send_again() -> int:
    """Enqueue the jobs of lost notices, the oldest of each user first; returns their number."""
    if not message_queue.can_mail():
        return 0
    open_rows = _open_rows()
    # Only the oldest of each user: one with many lost notices must not delay those of others.
    older = open_rows.filter(user=OuterRef("user"), created_at__lt=OuterRef("created_at"))
    now = clock.now()
    lost = open_rows.filter(resend_at__lte=now).exclude(Exists(older)).order_by("created_at")

    claimed = []
    for row in lost[:BATCH]:
        elapsed = now - row.created_at
        # If no worker checked for hours, skip the pauses that are over. The next retry is at least
        # 15 minutes away.
        pause = next(number for number in count(1) if PAUSE * 2**number >= elapsed + PAUSE)
        # Another process may have claimed the row since: then no row is updated.
        unclaimed = _rows().filter(pk=row.pk, resend_at__lte=now, digest=None, spent_at=None)
        resend_at = row.created_at + PAUSE * 2**pause
        if unclaimed.update(resend_at=resend_at if resend_at < row.expires_at else None):
            claimed.append((row, pause))

    for row, pause in claimed:
        job = row.payload["job"]
        again = {"notice": str(row.pk), "again": pause}
        message_queue.send(
            job["kind"],
            row.payload["email"],
            Client(language=job["language"], request_id=job["request_id"]),
            using=databases.primary(),
            details={**job["details"], **again},
        )
    return len(claimed)


@clock.once
def oldest_waiting() -> timedelta | None:
    """The age of the oldest lost notice that should have been enqueued again at least 15 minutes
    ago; None if there is none. Such a notice shows that no worker checks."""
    late = _open_rows().filter(resend_at__lte=clock.now() - PAUSE).order_by("created_at").first()
    return clock.now() - late.created_at if late else None


def _open_rows() -> QuerySet[OneTimeToken]:
    """Lost notices to enqueue again: their link was not issued and stays valid for a while."""
    expires = clock.now() + _LEAST
    # All rows of notices have an empty target, and an index begins with purpose and target.
    rows = _rows().filter(target_key="", digest=None, spent_at=None, expires_at__gt=expires)
    return rows.exclude(resend_at=None)


def was_notified(person: Person, kind: str, since: datetime) -> bool:
    """Whether the owner was notified of a change of this kind since a given time, with a link."""
    rows = _rows().filter(user=person.user.pk, created_at__gte=since)
    return any(row.payload["job"]["kind"] == kind for row in rows)


def end_later(issued: OneTimeToken) -> None:
    """End the links of all notices that are later than `issued`."""
    later = _rows().filter(user=issued.user_id, created_at__gte=issued.created_at, spent_at=None)
    later.exclude(pk=issued.pk).update(spent_at=clock.now())


def end_mailed_to(person: Person, email_key: str) -> None:
    """End the open links of the account that were mailed to this address."""
    for row in _rows().filter(user=person.user.pk, spent_at=None):
        if identifiers.email_key(row.payload["email"]) == email_key:
            _rows().filter(pk=row.pk).update(spent_at=clock.now())


def end_all(person: Person) -> None:
    """End all open links of the account; the API then answers that they have expired.

    Called when staff change the address: a reader of the former mailbox must not undo that change.
    """
    now = clock.now()
    rows = _rows().filter(user=person.user.pk, spent_at=None, expires_at__gt=now)
    rows.update(spent_at=now, expires_at=now)


def _rows() -> QuerySet[OneTimeToken]:
    return OneTimeToken.objects.filter(purpose=one_time.SECURE.name)


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
