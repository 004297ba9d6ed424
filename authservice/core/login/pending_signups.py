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
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from authservice.core.conf import core
from authservice.core.credentials import one_time
from authservice.core.messages import compose as composing
from authservice.core.messages import links
from authservice.core.messages.compose import OutgoingMessage
from authservice.core.models import OneTimeToken
from authservice.core.recovery import verification
from authservice.core.users import creation, further_fields, identifiers, lookup
from authservice.core.users.creation import NewUser
from authservice.core.users.person import Person
from authservice.kernel import crypto, errors, events, message_queue
from authservice.kernel.client import Client
from authservice.kernel.message_queue import Message

logger = logging.getLogger("authservice.accounts")

DETAIL = "signup"  # of the job: the id of the row
_PURPOSE = "pending-signup"
_KEPT = timedelta(days=1)
_ASKED = ("email", "username", "phone_number", "name", "first_name", "last_name")
_SEEN = ("address", "network", "user_agent", "request_id", "language")


def store(new_user: NewUser, encoded: str, client: Client) -> str:
    """Store a sign-up for the worker; returns the id of its row. The statements are the same for a
    taken and a free address. Raises `UsernameAlreadyExists` or `PhoneAlreadyInUse`."""
    with suppress(errors.UserAlreadyExists):
        creation.require_available(new_user)
    asked = {name: getattr(new_user, name) for name in _ASKED}
    seen = {name: getattr(client, name) for name in _SEEN}
    kept = {"asked": asked, "further": new_user.further.given, "hash": encoded, "client": seen}
    sealed = crypto.seal(_PURPOSE, json.dumps(kept))
    row = OneTimeToken.objects.create(
        purpose=_PURPOSE,
        target_key=identifiers.email_key(new_user.email),
        payload={"sealed": sealed},
        expires_at=timezone.now() + _KEPT,
    )
    return str(row.pk)


def message_builders() -> Mapping[str, Callable[[Message], OutgoingMessage | None]]:
    """Fills the slot `message_builders`."""
    return {message_queue.SIGNUP: compose}


def compose(message: Message) -> OutgoingMessage | None:
    """The mail after a sign-up that does not reveal whether the address was taken."""
    created = create(message)
    details = {name: value for name, value in message.details.items() if name != DETAIL}
    message = replace(message, details=details)
    person = composing.reachable(lookup.find_by_email(message.target))
    if person is None:
        return None
    if created == person.user.pk:
        return composing.verify_email(replace(message, kind=message_queue.VERIFY_EMAIL))
    if not person.email_proven:
        return _unproven(replace(message, kind=message_queue.SIGNUP_UNPROVEN), person)
    return composing.mail(message, person)


def _unproven(message: Message, person: Person) -> OutgoingMessage:
    """The mail if an earlier sign-up took the address and its owner has not proven it.

    It must have no link that verifies the address: the owner of the mailbox would take the account
    of an attacker, who signed up first, for their own. A reset removes all access of the attacker.
    """
    token = one_time.issue_link(one_time.RESET, person, person.email_key)
    link = links.reset_password(token, person.email)
    return composing.mail(message, person, link=link, expires_in=one_time.RESET.link_ttl)


def create(message: Message) -> Any:
    """Create the account of a stored sign-up, once, unless the address has been taken since.

    Returns the primary key of the user whom this sign-up has created, now or in an earlier attempt
    at the same job, or None.
    """
    pk = message.details.get(DETAIL, "")
    row = _spend(pk)
    if row is None:
        return _created_by(pk)
    try:
        kept = json.loads(crypto.unseal(_PURPOSE, row.payload["sealed"]))
    except crypto.Unreadable:
        logger.exception("The sign-up %s cannot be decrypted with any configured key", row.pk)
        return None
    try:
        further = further_fields.at_signup(kept["further"])
    except errors.ValidationFailed:
        # Such as a value that another user has taken since the request.
        logger.exception("The further fields of the sign-up %s are not valid any more", row.pk)
        return None
    client, new_user = Client(**kept["client"]), NewUser(**kept["asked"], further=further)
    # A username or number that another user took since the request is left out.
    for wanted in (new_user, replace(new_user, username="", phone_number="")):
        with suppress(errors.UsernameAlreadyExists, errors.PhoneAlreadyInUse):
            return _create(wanted, kept["hash"], client, row)
    return None


def _create(new_user: NewUser, encoded: str, client: Client, row: OneTimeToken) -> Any:
    def record(person: Person) -> Any:
        events.record("auth.signup", person, client)
        if new_user.phone_number and core.require_phone_verification:
            verification.text_after_commit(new_user.phone_number, client)
        OneTimeToken.objects.filter(pk=row.pk).update(user=person.user.pk)
        return person.user.pk

    with suppress(errors.UserAlreadyExists):
        return creation.create_user(new_user, encoded, record)
    return None


def _spend(pk: str) -> OneTimeToken | None:
    """The row if this call marked it as spent, otherwise None."""
    rows = _row(pk).filter(expires_at__gt=timezone.now())
    return rows.first() if rows.filter(spent_at=None).update(spent_at=timezone.now()) else None


def _created_by(pk: str) -> Any:
    return _row(pk).values_list("user", flat=True).first()


def _row(pk: str) -> QuerySet[OneTimeToken]:
    try:
        return OneTimeToken.objects.filter(pk=UUID(pk), purpose=_PURPOSE)
    except ValueError:
        return OneTimeToken.objects.none()
