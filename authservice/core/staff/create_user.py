"""Accounts created by staff, without a password, and the mailed links to set one.

Staff never learn a password. The reader of the mailbox sets it with the link, which also proves the
address.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from authservice.core import errors
from authservice.core.messages import kinds
from authservice.core.models import PhoneSource, Session
from authservice.core.staff import authority
from authservice.core.users import creation
from authservice.core.users.creation import NewUser
from authservice.core.users.person import Person
from authservice.kernel import databases, events, message_queue, transactions
from authservice.kernel.client import Client
from authservice.kernel.errors import invalid
from authservice.kernel.phrases import phrase


def create(new_user: NewUser, *, by: Person, session: Session, client: Client) -> Person:
    """Create an account that cannot be used until its owner follows the mailed link.

    `by` is the acting super admin, `session` their session. Raises `EmailNotConfigured`, and the
    errors of `authority.acting` and `creation.create_user`.
    """
    _require_mail()

    def welcome(person: Person) -> Person:
        record(person, by=by.user, client=client)
        message_queue.send(kinds.ACCOUNT_MADE, person.email, client, using=databases.primary())
        return person

    with authority.acting(by, session):
        user_by_staff = replace(new_user, phone_set_by=PhoneSource.STAFF)
        return creation.create_user(user_by_staff, creation.unusable(), welcome)


def record(person: Person, *, by: Any, client: Client) -> None:
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


@transactions.inside
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
