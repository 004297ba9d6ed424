"""The mails of a requested e-mail address, composed by the worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from authservice.core.credentials import one_time, passwords
from authservice.core.messages import compose as composing
from authservice.core.messages import kinds, mailed_links
from authservice.core.messages.compose import OutgoingMessage
from authservice.core.models import OneTimeToken
from authservice.core.own_account.email_change import CHANGE_EMAIL, REQUEST
from authservice.core.users import identifiers, lookup, reservations
from authservice.core.users.person import Person
from authservice.kernel.message_queue import Message


def message_builders() -> Mapping[str, Callable[[Message], OutgoingMessage | None]]:
    """Fills the slot `message_builders`."""
    return {
        kinds.CHANGE_EMAIL: compose,
        kinds.EMAIL_CHANGE_CONFIRMED: composing.notice,
    }


def compose(message: Message) -> OutgoingMessage | None:
    """The link to the new address; or, if another account has that address, a notice to it."""
    row = _open_row(message.details.get(REQUEST, ""))
    person = composing.reachable(lookup.find_by_pk(row.user_id)) if row else None
    if row is None or person is None or not _is_current(row, person):
        return None
    holder = _holder(message.target, person)
    if holder is not None:
        return _mail(message, kinds.EMAIL_TAKEN, composing.reachable(holder))
    token = one_time.new_token()
    digest = one_time.link_digest(CHANGE_EMAIL, token)
    OneTimeToken.objects.filter(pk=row.pk).update(digest=digest)
    link = mailed_links.to_route("confirm-email-change", token)
    return _mail(message, message.kind, person, link=link, expires_in=CHANGE_EMAIL.link_ttl)


def _open_row(pk: str) -> OneTimeToken | None:
    """Locked, so that of two jobs the later one issues the token that works."""
    try:
        rows = OneTimeToken.objects.filter(pk=UUID(pk), purpose=CHANGE_EMAIL.name, spent_at=None)
    except ValueError:
        return None
    return rows.select_for_update().first()


def _is_current(row: OneTimeToken, person: Person) -> bool:
    return person.email_key == row.payload["former_key"] and passwords.matches_fingerprint(
        row.password_fingerprint, person.user.password
    )


def _holder(email: str, but: Person) -> Person | None:
    """Another user who has the address, or for whom it is reserved."""
    found = lookup.find_by_email(email)
    if found is None:
        others = reservations.holders(identifiers.email_key(email)).exclude(user=but.user.pk)
        pk = others.first()
        found = lookup.find_by_pk(pk) if pk is not None else None
    return found


def _mail(
    message: Message, kind: str, person: Person | None, **context: Any
) -> OutgoingMessage | None:
    """A mail to the address of the job, which is not that of the account."""
    if person is None:
        return None
    return OutgoingMessage(
        kind=kind,
        channel="email",
        to=message.target,
        person=person,
        language=message.language,
        context=context,
    )
