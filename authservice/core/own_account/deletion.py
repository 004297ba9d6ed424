"""Users delete their own account. The same rules apply as to a deletion by staff.

The proof is the password. Users without one get a link at their proven address, whose page has a
button; without such an address their login must be recent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction

from authservice.core import errors
from authservice.core.conf import core
from authservice.core.credentials import one_time, passwords
from authservice.core.credentials.one_time import Purpose
from authservice.core.messages import compose as composing
from authservice.core.messages import kinds, mailed_links, sending
from authservice.core.messages.compose import OutgoingMessage
from authservice.core.models import Session
from authservice.core.recovery import recent_proof
from authservice.core.recovery.recent_proof import Proof
from authservice.core.sessions import sessions
from authservice.core.staff import create_and_delete, super_admins
from authservice.core.users import lookup
from authservice.core.users.person import Person
from authservice.kernel import databases, events, message_queue
from authservice.kernel.client import Client
from authservice.kernel.errors import InvalidToken
from authservice.kernel.message_queue import Message
from authservice.kernel.secret import Secret

DELETE_ACCOUNT = Purpose("delete-account", link_ttl=timedelta(hours=1))


def delete(person: Person, session: Session, proof: Proof, client: Client) -> bool:
    """Delete the account; False if a link was mailed instead.

    Raises `SelfDeleteDisabled`, `InvalidToken`, and the errors of `recent_proof.require_owner` and
    of `_erase`.
    """
    require_allowed()
    has_password = bool(proof.password) or person.user.has_usable_password()
    if not has_password and person.email_proven and message_queue.can_mail():
        sending.to_email(kinds.DELETE_ACCOUNT, person.email, client)
        return False
    recent_proof.require_owner(person, session, proof, client, method="delete_account")
    keys_to_lock = super_admins.keys_to_lock(person.user.pk, losing=True)
    with (
        _refusing_references() as leaving,
        sessions.changing(person, session, *keys_to_lock) as present,
    ):
        recent_proof.require_unchanged(person, present)
        _erase(present, keys_to_lock, client, leaving)
    return True


def find(token: Secret) -> Person:
    """The account that a link deletes. Raises `SelfDeleteDisabled`, `InvalidLink` or
    `LinkExpired`."""
    require_allowed()
    person, issued = one_time.find_link(DELETE_ACCOUNT, token)
    if issued.spent_at is not None:
        raise errors.InvalidLink
    return person


def delete_with_link(token: Secret, client: Client) -> None:
    """Delete the account of the link. Raises `SelfDeleteDisabled`, `InvalidLink`, `LinkExpired`,
    and the errors of `_erase`."""
    require_allowed()
    person, issued = one_time.find_link(DELETE_ACCOUNT, token)
    keys_to_lock = super_admins.keys_to_lock(person.user.pk, losing=True)
    with _refusing_references() as leaving, transaction.atomic(using=databases.primary()):
        passwords.lock_users(keys_to_lock)
        present = one_time.consume_for(DELETE_ACCOUNT, person, issued)
        if present is None:
            raise errors.InvalidLink
        _erase(present, keys_to_lock, client, leaving)


def require_allowed() -> None:
    """Raises `SelfDeleteDisabled`."""
    if not core.allow_self_delete:
        raise errors.SelfDeleteDisabled


def message_builders() -> Mapping[str, Callable[[Message], OutgoingMessage | None]]:
    """Fills the slot `message_builders`."""
    return {
        kinds.DELETE_ACCOUNT: _compose_link,
        kinds.ACCOUNT_DELETED: _compose_farewell,
    }


@contextmanager
def _refusing_references() -> Iterator[list[Person]]:
    """Turn an integrity error of a table that references the user into `UserInUse`, also if the
    database raises it at the commit.

    Yields an empty list, to which the block adds the user right before the deletion. If the list is
    still empty, another statement failed, such as the one that writes the audit entry, and its
    error is raised unchanged.
    """
    leaving: list[Person] = []
    try:
        yield leaving
    except IntegrityError as error:
        if not leaving:
            raise
        raise errors.UserInUse from error


def _erase(person: Person, locked_keys: set[Any], client: Client, leaving: list[Person]) -> None:
    """Delete the user in the current transaction, which has locked the users with `locked_keys`.
    Adds the user to `leaving` when only the deletion itself can still fail.

    Raises `InvalidToken` if the user is gone, `LastSuperAdmin`, and an integrity error if another
    table still references the user.
    """
    try:
        super_admins.read_locked(person.user.pk, locked_keys, losing=True)
    except errors.UserNotFound as error:
        raise InvalidToken from error
    leaving.append(create_and_delete.prepare_deletion(person, lambda: _record(person, client)))
    person.user.delete(using=databases.primary())


def _record(person: Person, client: Client) -> None:
    events.record("user.deleted", person, client, **create_and_delete.audit_metadata(person))
    if person.email_proven:
        details = message_queue.describe_client(client)
        using = databases.primary()
        kind = kinds.ACCOUNT_DELETED
        message_queue.send(kind, person.email, client, using=using, details=details)


def _compose_link(message: Message) -> OutgoingMessage | None:
    person = composing.reachable(lookup.find_by_email(message.target))
    if person is None or not (core.allow_self_delete and person.email_proven):
        return None
    token = one_time.issue_link(DELETE_ACCOUNT, person, person.email_key)
    link = mailed_links.to_route("delete-account", token)
    return composing.mail(message, person, link=link, expires_in=DELETE_ACCOUNT.link_ttl)


def _compose_farewell(message: Message) -> OutgoingMessage:
    """The mail after the deletion: the message names no user, because the user no longer exists."""
    return OutgoingMessage(
        kind=message.kind,
        channel="email",
        to=message.target,
        person=None,
        language=message.language,
        context=message.details,
    )
