"""Sign-ups that do not reveal whether the address is taken: the worker creates the account.

Creating it within the request takes longer than finding that the address is taken, and the time
would reveal that. So the request stores its data, for a taken and a free address alike, and
enqueues a job with the id of the row. The row is encrypted: it has the hash of a password and
personal data of a user who does not exist yet. The job has no secret.

The password itself is stored nowhere. `set_password` of the host's model was called in the request,
and all columns that it sets are stored; validators see the password at the first login with it.
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

from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import QuerySet

from authservice.core import errors
from authservice.core.conf import core
from authservice.core.credentials import one_time, passwords
from authservice.core.messages import compose as composing
from authservice.core.messages import kinds, mailed_links
from authservice.core.messages.compose import OutgoingMessage
from authservice.core.models import OneTimeToken
from authservice.core.recovery import verification
from authservice.core.users import creation, further_fields, identifiers, lookup
from authservice.core.users.creation import NewPassword, NewUser
from authservice.core.users.person import Person
from authservice.core.users.user_model import host
from authservice.kernel import clock, crypto, events
from authservice.kernel.client import Client
from authservice.kernel.errors import ValidationFailed
from authservice.kernel.message_queue import Message

logger = logging.getLogger("authservice.accounts")

DETAIL = "signup"  # of the job: the id of the row
_PURPOSE = "pending-signup"
_KEPT = timedelta(days=1)
_ASKED = ("email", "username", "phone_number", "name", "first_name", "last_name")
_OF_JSON = (str, int, float, bool, list, dict, type(None))
# What a field raises for a stored value, or `get_field` for its name.
_UNREADABLE = (FieldDoesNotExist, TypeError, ValidationError, ValueError)
_SEEN = ("address", "network", "user_agent", "request_id", "language")


def store(new_user: NewUser, encoded: NewPassword, client: Client) -> str:
    """Store a sign-up for the worker; returns the id of its row. The statements are the same for a
    taken and a free address. Raises `UsernameAlreadyExists` or `PhoneAlreadyInUse`."""
    with suppress(errors.UserAlreadyExists):
        creation.require_available(new_user)
    asked = {name: getattr(new_user, name) for name in _ASKED}
    seen = {name: getattr(client, name) for name in _SEEN}
    kept = {
        "asked": asked,
        "further": new_user.further.given,
        "password": _stored(encoded),
        "client": seen,
    }
    sealed = crypto.seal(_PURPOSE, json.dumps(kept, cls=DjangoJSONEncoder))
    row = OneTimeToken.objects.create(
        purpose=_PURPOSE,
        target_key=identifiers.email_key(new_user.email),
        payload={"sealed": sealed},
        expires_at=clock.now() + _KEPT,
    )
    return str(row.pk)


def message_builders() -> Mapping[str, Callable[[Message], OutgoingMessage | None]]:
    """Fills the slot `message_builders`."""
    return {kinds.SIGNUP: compose}


def compose(message: Message) -> OutgoingMessage | None:
    """The mail after a sign-up that does not reveal whether the address was taken."""
    created = create(message)
    details = {name: value for name, value in message.details.items() if name != DETAIL}
    message = replace(message, details=details)
    person = composing.reachable(lookup.find_by_email(message.target))
    if person is None:
        return None
    if created == person.user.pk:
        return composing.verify_email(replace(message, kind=kinds.VERIFY_EMAIL))
    if not person.email_proven:
        return _unproven(replace(message, kind=kinds.SIGNUP_UNPROVEN), person)
    return composing.mail(message, person)


def _unproven(message: Message, person: Person) -> OutgoingMessage:
    """The mail if an earlier sign-up took the address and its owner has not proven it.

    It must have no link that verifies the address: the owner of the mailbox would take the account
    of an attacker, who signed up first, for their own. A reset removes all access of the attacker.
    """
    token = one_time.issue_link(one_time.RESET, person, person.email_key)
    link = mailed_links.reset_password(token, person.email)
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
    created = _create_from(row)
    if created is None:
        # The sign-up is over. Nothing needs its data any more, and nothing else would erase them
        # before the row expires.
        _row(pk).update(payload={})
    return created


def _create_from(row: OneTimeToken) -> Any:
    """The primary key of the new user, or None if the sign-up can no longer create one."""
    try:
        kept = json.loads(crypto.unseal(_PURPOSE, row.payload["sealed"]))
    except crypto.Unreadable:
        logger.exception("The sign-up %s cannot be decrypted with any configured key", row.pk)
        return None
    try:
        further = further_fields.at_signup(kept["further"])
    except ValidationFailed:
        # Such as a value that another user has taken since the request.
        logger.exception("The further fields of the sign-up %s are not valid any more", row.pk)
        return None
    try:
        encoded = _read(kept["password"])
    except _UNREADABLE:
        # A later version of the project has removed a column, or given it another type.
        logger.exception("The password of the sign-up %s does not fit the table of users", row.pk)
        return None
    client, new_user = Client(**kept["client"]), NewUser(**kept["asked"], further=further)
    # A username or number that another user took since the request is left out.
    for wanted in (new_user, replace(new_user, username="", phone_number="")):
        try:
            return _create(wanted, encoded, client, row)
        except (errors.UsernameAlreadyExists, errors.PhoneAlreadyInUse):
            continue
        except (errors.Conflict, ValidationFailed):
            # A repeated job would be refused too. The client was answered long ago.
            logger.exception("The project's table of users refuses the sign-up %s", row.pk)
            return None
    return None


def _create(new_user: NewUser, encoded: NewPassword, client: Client, row: OneTimeToken) -> Any:
    def record(person: Person) -> Any:
        events.record("auth.signup", person, client)
        if new_user.phone_number and core.require_phone_verification:
            verification.text_after_commit(person, new_user.phone_number, client)
        passwords.tell_validators_at_login(person)
        # The row is kept for a repeated job; the data of the sign-up are not needed any more.
        OneTimeToken.objects.filter(pk=row.pk).update(user=person.user.pk, payload={})
        return person.user.pk

    with suppress(errors.UserAlreadyExists):
        return creation.create_user(new_user, encoded, record)
    return None


def _stored(encoded: NewPassword) -> dict[str, Any]:
    """The columns of the password as JSON values."""
    user = host().model()
    return {name: _json_value(user, name) for name in encoded.assign(user)}


def _json_value(user: Any, name: str) -> Any:
    value = getattr(user, name)
    field = host().model._meta.get_field(name)
    return value if isinstance(value, _OF_JSON) else field.value_to_string(user)


def _read(stored: Mapping[str, Any]) -> NewPassword:
    fields = host().model._meta
    return NewPassword(
        {name: fields.get_field(name).to_python(value) for name, value in stored.items()}
    )


def _spend(pk: str) -> OneTimeToken | None:
    """The row if this call marked it as spent, otherwise None."""
    rows = _row(pk).filter(expires_at__gt=clock.by_now())
    return rows.first() if rows.filter(spent_at=None).update(spent_at=clock.now()) else None


def _created_by(pk: str) -> Any:
    return _row(pk).values_list("user", flat=True).first()


def _row(pk: str) -> QuerySet[OneTimeToken]:
    try:
        return OneTimeToken.objects.filter(pk=UUID(pk), purpose=_PURPOSE)
    except ValueError:
        return OneTimeToken.objects.none()
