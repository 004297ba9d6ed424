"""What staff do to let somebody in: an account without a password, and links to set one.

Staff never learn a password. Whoever uses the mailed link sets it, and thereby proves the address.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.hashers import make_password
from django.db import transaction

from authservice.core import directory, facts, newcomers
from authservice.core.newcomers import Newcomer
from authservice.core.people import Person
from authservice.kernel import errors, messages
from authservice.kernel.client import Client
from authservice.kernel.events import Event


def enrol(newcomer: Newcomer, *, by: Any, client: Client) -> Person:
    """An account nobody can use before its owner followed the mailed link.

    Raises `EmailNotConfigured` and the refusals of `newcomers.admit`.
    """
    _require_mail()

    def welcome(person: Person) -> Person:
        tell(person, by=by, client=client)
        messages.send(messages.ACCOUNT_MADE, person.email, client, using=directory.database())
        return person

    return newcomers.admit(newcomer, make_password(None), welcome)


def tell(person: Person, *, by: Any, client: Client) -> None:
    """Tell of an account that staff made, by whatever way."""
    _tell("admin.user.created", person, by, client, **_said(person))


def mail_reset(person: Person, *, by: Any, client: Client) -> None:
    """Mail a link by which the person sets a new password; the old one works until they do.

    Raises `EmailNotConfigured`, `UserNotActive`, or `ValidationFailed` where there is no address.
    """
    _require_mail()
    if not person.email:
        raise errors.invalid("email", "The user has no address to write to.")
    if not person.active:
        raise errors.UserNotActive
    using = directory.database()
    with transaction.atomic(using=using):
        _tell("auth.password.reset_requested", person, by, client)
        messages.send(
            messages.RESET_BY_LINK,
            person.email,
            client,
            using=using,
            details={"asked_by": "staff"},
        )


def _require_mail() -> None:
    if not messages.can_mail():
        raise errors.EmailNotConfigured


def _said(person: Person) -> dict[str, Any]:
    said = {"email": person.email, "username": person.username, "name": person.account.name}
    return {name: {"before": None, "after": value} for name, value in said.items() if value}


def _tell(action: str, person: Person, by: Any, client: Client, **metadata: Any) -> None:
    event = Event(
        action=action,
        user=by,
        target=person.user,
        actor_type="admin",
        client=client,
        metadata=metadata,
    )
    facts.tell(event)
