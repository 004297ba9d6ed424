"""Sign-ups that do not reveal whether the address is taken: the worker creates the account.

Creating it within the request takes longer than finding that the address is taken, and the time
would reveal that. So the request stores its data, for a taken and a free address alike, and
enqueues a job with the id of the row. The row is encrypted: it has the hash of a password and
personal data of a user who does not exist yet. The job has no secret.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from authservice.core.conf import core
from authservice.core.messages import compose as composing
from authservice.core.messages.compose import OutgoingMessage
from authservice.core.models import OneTimeToken
from authservice.core.recovery import verification
from authservice.core.users import creation, identifiers, lookup
from authservice.core.users.creation import NewUser
from authservice.core.users.person import Person
from authservice.kernel import crypto, databases, errors, events, message_queue
from authservice.kernel.client import Client
from authservice.kernel.events import Event
from authservice.kernel.message_queue import Message

logger = logging.getLogger("authservice.accounts")

DETAIL = "signup"  # of the job: the id of the row
_PURPOSE = "pending-signup"
_KEPT = timedelta(days=1)
_ASKED = ("email", "username", "phone_number", "name", "first_name", "last_name")
_SEEN = ("address", "network", "user_agent", "request_id", "language")


def store(newcomer: NewUser, encoded: str, client: Client) -> str:
    """Store a sign-up for the worker; returns the id of its row. The statements are the same for a
    taken and a free address. Raises `UsernameAlreadyExists` or `PhoneAlreadyInUse`."""
    with suppress(errors.UserAlreadyExists):
        creation.require_available(newcomer)
    asked = {name: getattr(newcomer, name) for name in _ASKED}
    seen = {name: getattr(client, name) for name in _SEEN}
    sealed = crypto.seal(_PURPOSE, json.dumps({"asked": asked, "hash": encoded, "client": seen}))
    row = _rows().create(
        purpose=_PURPOSE,
        target_key=identifiers.email_key(newcomer.email),
        payload={"sealed": sealed},
        expires_at=timezone.now() + _KEPT,
    )
    return str(row.pk)


def message_builders() -> Mapping[str, Callable[[Message], OutgoingMessage | None]]:
    """Fills the slot `message_builders`."""
    return {message_queue.SIGNUP: compose}


def compose(message: Message) -> OutgoingMessage | None:
    """The mail after a sign-up that does not reveal whether the address was taken."""
    create(message)
    details = {name: value for name, value in message.details.items() if name != DETAIL}
    message = replace(message, details=details)
    person = composing.reachable(lookup.find_by_email(message.target))
    if person is None:
        return None
    if not person.email_verified:
        return composing.verify_email(replace(message, kind=message_queue.VERIFY_EMAIL))
    return composing.mail(message, person)


def create(message: Message) -> None:
    """Create the account of a stored sign-up, once, unless the address has been taken since."""
    row = _taken(message.details.get(DETAIL, ""))
    if row is None:
        return
    try:
        kept = json.loads(crypto.unseal(_PURPOSE, row.payload["sealed"]))
    except crypto.Unreadable:
        logger.exception("The sign-up %s cannot be decrypted with any configured key", row.pk)
        return
    client, newcomer = Client(**kept["client"]), NewUser(**kept["asked"])
    # A username or number that another user took since the request is left out.
    for wanted in (newcomer, replace(newcomer, username="", phone_number="")):
        with suppress(errors.UsernameAlreadyExists, errors.PhoneAlreadyInUse):
            _admit(wanted, kept["hash"], client)
            return


def _admit(newcomer: NewUser, encoded: str, client: Client) -> None:
    def record(person: Person) -> None:
        events.record(Event(action="auth.signup", user=person.user, client=client))
        if newcomer.phone_number and core.require_phone_verification:
            verification.text_after_commit(newcomer.phone_number, client)

    with suppress(errors.UserAlreadyExists):
        creation.create_user(newcomer, encoded, record)


def _taken(pk: str) -> OneTimeToken | None:
    """The row if this call marked it as spent, otherwise None."""
    try:
        rows = _rows().filter(pk=UUID(pk), purpose=_PURPOSE, expires_at__gt=timezone.now())
    except ValueError:
        return None
    return rows.first() if rows.filter(spent_at=None).update(spent_at=timezone.now()) else None


def _rows() -> QuerySet[OneTimeToken]:
    return OneTimeToken.objects.using(databases.primary())
