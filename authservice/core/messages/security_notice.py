"""Notify the owner of an account of a change that an intruder may have made.

The mail to the proven address carries a link, "this was not me", that undoes the change, see
`secure_account`. Its row is written in the transaction of the change and keeps the state before it.
The worker that sends the mail issues the token, so that no queue holds a secret.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Max, QuerySet

from authservice.core.credentials import one_time
from authservice.core.messages import compose as composing
from authservice.core.messages import kinds, lost_notices, mailed_links
from authservice.core.messages.compose import OutgoingMessage
from authservice.core.messages.lost_notices import Job
from authservice.core.models import OneTimeToken
from authservice.core.users import identifiers, lookup
from authservice.core.users.person import Person
from authservice.kernel import clock, databases, message_queue
from authservice.kernel.client import Client
from authservice.kernel.message_queue import Message
from authservice.kernel.secret import Secret

# The fields of an account that the link restores.
NUMBER = ("phone_number", "phone_key", "verified_phone_key", "phone_set_by")
NUMBER_TIMES = ("phone_added_at", "phone_verified_at")
PROOFS = ("verified_email_key", "proven_email_key")
PROOF_TIMES = ("email_proven_at",)


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
    kind: str, person: Person, client: Client, before: Mapping[str, Any], **shown: str
) -> None:
    """Notify the owner, in the transaction of the change; `before` is the `state_of` before it.
    `shown` are further values for the templates.

    An address that was not proven gets nothing: it may be that of another person, and anybody can
    create accounts with such addresses, so an attacker could fill the queue with their notices.
    """
    using, details = databases.primary(), {**message_queue.describe_client(client), **shown}
    email, number = before["email"], before["phone_number"]
    if email and before["proven_email_key"] == identifiers.email_key(email):
        notice = _open_link(person, before, Job(kind, client, details))
        message_queue.send(kind, email, client, using=using, details={**details, "notice": notice})
    elif kind == kinds.PHONE_CHANGED and _may_text(before):
        # No address is proven: only the former number can be notified.
        text, owner = kinds.PHONE_CHANGED_TEXT, {"account": person.id}
        message_queue.send(text, number, client, using=using, details=owner)


def _may_text(before: Mapping[str, Any]) -> bool:
    verified = before["verified_phone_key"] == before["phone_key"]
    return bool(before["phone_number"]) and verified and message_queue.can_sms()


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
    found = _open_row(message)
    if found is None:
        return composing.notice(message)
    person = composing.reachable(lookup.find_by_pk(found.user_id))
    if person is None or not lost_notices.may_issue(found, message):
        return None
    link = mailed_links.to_route("secure-account", _issue(found, message))
    outgoing = composing.mail(message, person, link=link, expires_in=_time_left(found))
    return replace(outgoing, to=message.target)


def _open_row(message: Message) -> OneTimeToken | None:
    """The row of the link, locked so that of two jobs one issues the token."""
    notice = message.details.get("notice")
    if not notice:
        return None
    return _rows().select_for_update().filter(pk=notice, spent_at=None).first()


def _issue(row: OneTimeToken, message: Message) -> Secret:
    token = one_time.new_token()
    _rows().filter(pk=row.pk).update(
        digest=one_time.link_digest(one_time.SECURE, token),
        payload={**row.payload, **lost_notices.issued_by(message)},
    )
    return token


def _time_left(row: OneTimeToken) -> timedelta:
    """How long the link is still valid, in whole hours; sending may take some minutes."""
    hour, sending = timedelta(hours=1), timedelta(minutes=5)
    return max((row.expires_at - clock.now() + sending) // hour * hour, hour)


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


def end_later(issued: OneTimeToken) -> None:
    """End the links of all later notices."""
    later = _rows().filter(user=issued.user_id, created_at__gte=issued.created_at, spent_at=None)
    later.exclude(pk=issued.pk).update(spent_at=clock.now())


def end_all(person: Person) -> None:
    """End all open links of the account; the API then answers that they have expired.

    Staff have changed the address. A reader of the former mailbox must not undo that.
    """
    now = clock.now()
    rows = _rows().filter(user=person.user.pk, spent_at=None, expires_at__gt=now)
    rows.update(spent_at=now, expires_at=now)


def _open_link(person: Person, before: Mapping[str, Any], job: Job) -> str:
    """Create a row without a token; returns its id."""
    now = clock.now()
    # The links are in the order of the changes, which the lock of the user decides. The request may
    # have begun before that of the last change.
    earlier = _rows().filter(user=person.user.pk).aggregate(last=Max("created_at"))["last"]
    opened = _rows().create(
        purpose=one_time.SECURE.name,
        user_id=person.user.pk,
        payload={**before, "job": job.kept()},
        created_at=max(now, earlier + timedelta.resolution) if earlier else now,
        expires_at=now + one_time.SECURE.link_ttl,
    )
    return str(opened.pk)


def _rows() -> QuerySet[OneTimeToken]:
    return OneTimeToken.objects.filter(purpose=one_time.SECURE.name)


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
