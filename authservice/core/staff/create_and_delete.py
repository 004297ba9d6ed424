"""Staff create accounts, without a password, mail the links to set one, and delete users
permanently, with all their data in the service.

Staff never learn a password. The reader of the mailbox sets it with the link, which also proves the
address.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from django.db import IntegrityError

from authservice.core import errors
from authservice.core.messages import kinds
from authservice.core.models import PhoneSource, Session
from authservice.core.staff import authority, super_admins
from authservice.core.users import creation
from authservice.core.users.creation import NewUser
from authservice.core.users.person import Person
from authservice.kernel import databases, events, message_queue
from authservice.kernel.client import Client
from authservice.kernel.errors import invalid
from authservice.kernel.languages import phrase


def create(new_user: NewUser, *, by: Person, session: Session, client: Client) -> Person:
    """Create an account that cannot be used until its owner follows the mailed link.

    `by` is the acting super admin, `session` their session. Raises `EmailNotConfigured`, and the
    errors of `authority.acting` and `creation.create_user`.
    """
    _require_mail()

    def welcome(person: Person) -> Person:
        record_creation(person, by=by.user, client=client)
        message_queue.send(kinds.ACCOUNT_MADE, person.email, client, using=databases.primary())
        return person

    with authority.acting(by, session):
        user_by_staff = replace(new_user, phone_set_by=PhoneSource.STAFF)
        return creation.create_user(user_by_staff, creation.unusable(), welcome)


def record_creation(person: Person, *, by: Any, client: Client) -> None:
    """Record that staff created an account, over the API or in Django admin."""
    values = {"email": person.email, "username": person.username, "name": person.account.name}
    initial = {name: {"before": None, "after": value} for name, value in values.items() if value}
    events.record_by_staff("admin.user.created", by, person.user, client, **initial)


def mail_reset(person: Person, *, by: Person, session: Session, client: Client) -> None:
    """Mail a link to set a new password; the old password works until the link is used.

    Raises the errors of `authority.acting`, `EmailNotConfigured`, `UserNotActive`, or
    `ValidationFailed` if there is no address.
    """
    _require_reachable(person)
    with authority.acting(by, session, person.user.pk) as editor:
        _mail_reset(person, editor.user, client)


@databases.inside_transaction
def mail_reset_in_admin(person: Person, *, by: Any, client: Client) -> None:
    """`mail_reset` for a caller that holds the lock of the user; `by` is the row of the member of
    staff."""
    _require_reachable(person)
    _mail_reset(person, by, client)


def _mail_reset(person: Person, by: Any, client: Client) -> None:
    events.record_by_staff("auth.password.reset_requested", by, person.user, client)
    message_queue.send(
        kinds.RESET_BY_LINK,
        person.email,
        client,
        using=databases.primary(),
        details={"asked_by": "staff"},
    )


def _require_reachable(person: Person) -> None:
    _require_mail()
    if not person.email:
        raise invalid("email", phrase("The user has no address to write to."))
    if not person.active:
        raise errors.UserNotActive


def _require_mail() -> None:
    if not message_queue.can_mail():
        raise errors.EmailNotConfigured


def delete(pk: Any, *, by: Person, session: Session, client: Client) -> None:
    """Delete the user. Receivers of `pre_delete` may first transfer rows that must stay.

    `by` is the acting super admin, `session` their session. Raises the errors of
    `authority.acting`, `UserNotFound`, `CannotModifySelf`, `LastSuperAdmin`, and `UserInUse` if a
    table of the host project still references the user, also by a constraint that Django does not
    know.
    """
    if by.user.pk == pk:
        raise errors.CannotModifySelf
    keys_to_lock = super_admins.keys_to_lock(pk, losing=True)
    is_prepared = False
    try:
        with (
            # Records a refusal. The deletion itself is recorded by `prepare_deletion`.
            authority.recorded("admin.user.deleted", pk, by=by.user, client=client),
            authority.acting(by, session, *keys_to_lock) as editor,
        ):
            # `keys_to_lock` lacks users who are super admins by a property of the user model only.
            # The acting super admin may be such a user, and remains after the deletion.
            present = super_admins.read_locked(pk, {*keys_to_lock, by.user.pk}, losing=True)
            authority.require_over_account(editor.user, present)
            prepare_deletion(
                present, lambda: record_deletion(present, by=editor.user, client=client)
            )
            is_prepared = True
            present.user.delete(using=databases.primary())
    except IntegrityError as error:
        if not is_prepared:
            raise  # an earlier statement failed, such as the one that writes the audit entry
        raise errors.UserInUse from error  # also from the commit, for deferred constraints


def prepare_deletion(person: Person, write_entry: Callable[[], None]) -> Person:
    """Prepare the deletion of a locked user in the current transaction; returns the user.

    `write_entry` writes the audit entry now: a deleted user has no primary key to record.
    """
    write_entry()
    super_admins.lock_against_references(person.user.pk)
    return person


def record_deletion(person: Person, *, by: Any, client: Client) -> None:
    """Record a deletion by staff; call it before the deletion."""
    events.record_by_staff("admin.user.deleted", by, person.user, client, **audit_metadata(person))


def audit_metadata(person: Person) -> dict[str, Any]:
    """What the audit entry of a deletion says of the user."""
    values = {"email": person.email, "username": person.username, "name": person.account.name}
    return {name: {"before": value, "after": None} for name, value in values.items()}
