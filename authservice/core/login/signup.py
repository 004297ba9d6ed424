"""Sign-up: create a user and log them in for the first time, in one transaction.

If the sign-up must not reveal whether the address is taken, the worker creates the account.
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
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import QuerySet

from authservice.core import errors
from authservice.core.conf import core
from authservice.core.credentials import one_time, passwords
from authservice.core.login import host_hooks, login
from authservice.core.login.login import Login, NewAccount
from authservice.core.messages import compose as composing
from authservice.core.messages import kinds, mailed_links, sending
from authservice.core.messages.compose import OutgoingMessage
from authservice.core.models import OneTimeToken
from authservice.core.recovery import verification
from authservice.core.users import creation, extra_fields, identifiers, lookup
from authservice.core.users.creation import NewPassword, NewUser
from authservice.core.users.person import Person
from authservice.core.users.user_model import host
from authservice.kernel import clock, databases, events, message_queue, secret
from authservice.kernel.client import Client
from authservice.kernel.errors import ValidationFailed, invalid
from authservice.kernel.languages import phrase
from authservice.kernel.message_queue import Message

logger = logging.getLogger("authservice.accounts")

_PROOFS = ("pwd",)
# For sign-ups that the worker completes: the detail of the job that has the id of the row, the
# purpose of the row, and how long it is kept.
DETAIL = "signup"
_PURPOSE = "pending-signup"
_KEPT = timedelta(days=1)
# Attributes of `NewUser` and of `Client` that the row has.
_ASKED = ("email", "username", "phone_number", "name", "first_name", "last_name")
_SEEN = ("address", "network", "user_agent", "request_id", "language")
_OF_JSON = (str, int, float, bool, list, dict, type(None))
# What `to_python` of a field raises for a stored value, or `get_field` for the name of a column.
_UNREADABLE = (FieldDoesNotExist, TypeError, ValidationError, ValueError)


def sign_up(new_user: NewUser, client: Client) -> Login | None:
    """Create an account; the result has tokens unless the address or number must be verified first.

    None if `SIGNUP_ENUMERATION` hides whether the address was free.

    Raises `SignupDisabled`, `ValidationFailed`, `InvalidPassword`, `UserAlreadyExists`,
    `UsernameAlreadyExists`, `PhoneAlreadyInUse` or, from a hook, `Refused`.
    """
    if not creation.may_create_account(login.SIGNUP):
        raise errors.SignupDisabled
    # The new account must have a way to log in.
    by_email = host().email == host().natural
    if not new_user.email and (by_email or core.require_email_verification):
        raise invalid("email", phrase("This field is required."))
    if not new_user.phone_number and core.require_phone_verification:
        raise invalid("phone_number", phrase("This field is required."))

    unsaved = creation.unsaved_user(new_user, new_user.username)
    encoded = passwords.hash_new_password(new_user.password, unsaved)
    host_hooks.require_signup_allowed(new_user, client, method=login.SIGNUP)
    if core.signup_enumeration == "hide" and new_user.email:
        _create_quietly(new_user, encoded, client)
        return None

    # The device of this client is stored with the account, which saves the login a statement.
    new_user = replace(new_user, device=uuid.uuid4())
    create_account = partial(creation.create_user, new_user, encoded)
    if core.require_email_verification or core.require_phone_verification:
        # Nobody is logged in before the address or the number is verified.
        return create_account(lambda person: Login(_welcome(person, new_user, client)))

    def welcomed(person: Person) -> Person | None:
        """The new user; None if they may not be logged in, and then the account stays without a
        login."""
        _welcome(person, new_user, client)
        return person if login.login_refusal(person) is None else None

    account = NewAccount(new_user, create_account)
    return login.enter(account, client, method=login.SIGNUP, proofs=_PROOFS, change=welcomed)


def _create_quietly(new_user: NewUser, encoded: NewPassword, client: Client) -> None:
    """Create the account so that only the owner of the address learns the result, by mail."""
    if message_queue.can_mail():
        row_id = store(new_user, encoded, client)
        details = {DETAIL: row_id}
        sending.to_email(kinds.SIGNUP, new_user.email, client, details=details)
        return
    # Without mails there is no worker, so this request creates the account.
    with suppress(errors.UserAlreadyExists):
        creation.create_user(new_user, encoded, partial(_welcome, new_user=new_user, client=client))


def _welcome(person: Person, new_user: NewUser, client: Client) -> Person:
    """Record the sign-up, and send what verifies the address and the number."""
    events.record("auth.signup", person, client)
    # A hidden sign-up comes here only if no mail can be sent (`_create_quietly`).
    if not (core.signup_enumeration == "hide" and new_user.email):
        using = databases.primary()
        message_queue.send(kinds.VERIFY_EMAIL, new_user.email, client, using=using)
    if new_user.phone_number and core.require_phone_verification:
        verification.text_after_commit(person, new_user.phone_number, client)
    return person


def store(new_user: NewUser, encoded: NewPassword, client: Client) -> str:
    """Store a hidden sign-up for the worker; returns the id of its row. The statements are the same
    for a taken and a free address. Raises `UsernameAlreadyExists` or `PhoneAlreadyInUse`."""
    with suppress(errors.UserAlreadyExists):
        creation.require_available(new_user)
    user_values = {name: getattr(new_user, name) for name in _ASKED}
    client_values = {name: getattr(client, name) for name in _SEEN}
    user = host().model()
    columns: dict[str, Any] = {}  # of the password, as JSON values
    for name in encoded.assign(user):
        value = getattr(user, name)
        field = host().model._meta.get_field(name)
        columns[name] = value if isinstance(value, _OF_JSON) else field.value_to_string(user)
    stored = {
        "asked": user_values,
        "further": new_user.extra_fields.initial_data,
        "password": columns,
        "client": client_values,
    }
    sealed = secret.seal(_PURPOSE, json.dumps(stored, cls=DjangoJSONEncoder))
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
        # An earlier sign-up took the address, and its owner has not proven it. The mail must have
        # no link that verifies it: the owner of the mailbox would take the account of an attacker,
        # who signed up first, for their own. A reset removes all access of the attacker.
        message = replace(message, kind=kinds.SIGNUP_UNPROVEN)
        token = one_time.issue_link(one_time.RESET, person, person.email_key)
        link = mailed_links.reset_password(token, person.email)
        return composing.mail(message, person, link=link, expires_in=one_time.RESET.link_ttl)
    return composing.mail(message, person)


def create(message: Message) -> Any:
    """In the worker: create the account of a stored sign-up, once, unless the address has been
    taken since.

    Returns the primary key of the user whom this sign-up has created, now or in an earlier attempt
    at the same job, or None.
    """
    pk = message.details.get(DETAIL, "")
    rows = _row(pk).filter(expires_at__gt=clock.by_now())
    # Only the call that marks the row as spent goes on.
    spent = rows.filter(spent_at=None).update(spent_at=clock.now())
    row = rows.first() if spent else None
    if row is None:
        return _row(pk).values_list("user", flat=True).first()
    created = _create_from(row)
    if created is None:
        # The sign-up is over. Nothing needs its data any more, and nothing else would erase them
        # before the row expires.
        _row(pk).update(payload={})
    return created


def _create_from(row: OneTimeToken) -> Any:
    """The primary key of the new user, or None if the sign-up can no longer create one."""
    try:
        stored = json.loads(secret.unseal(_PURPOSE, row.payload["sealed"]))
    except secret.Unreadable:
        logger.exception("The sign-up %s cannot be decrypted with any configured key", row.pk)
        return None
    try:
        extra_values = extra_fields.at_signup(stored["further"])
    except ValidationFailed:
        # Such as a value that another user has taken since the request.
        logger.exception("The extra fields of the sign-up %s are not valid any more", row.pk)
        return None
    try:
        fields = host().model._meta
        columns = stored["password"].items()
        encoded = NewPassword(
            {name: fields.get_field(name).to_python(value) for name, value in columns}
        )
    except _UNREADABLE:
        # A later version of the project has removed a column, or given it another type.
        logger.exception("The password of the sign-up %s does not fit the table of users", row.pk)
        return None
    client = Client(**stored["client"])
    new_user = NewUser(**stored["asked"], extra_fields=extra_values)
    # If another user has taken the username or the number since the request, both are left out.
    for candidate in (new_user, replace(new_user, username="", phone_number="")):
        try:
            return _create(candidate, encoded, client, row)
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


def _row(pk: str) -> QuerySet[OneTimeToken]:
    try:
        return OneTimeToken.objects.filter(pk=UUID(pk), purpose=_PURPOSE)
    except ValueError:
        return OneTimeToken.objects.none()
