"""What a job becomes when its time has come: the person is looked up and the secret is minted.

A job names a kind and a target and was made alike for known and unknown targets; here, in the
worker, it turns out whether there is anything to send. A job that is tried again mints anew.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Literal

from django.db import transaction

from authservice.core import directory, facts, links, tickets
from authservice.core.people import Person
from authservice.core.tickets import Purpose
from authservice.kernel import messages
from authservice.kernel.client import Client
from authservice.kernel.events import Event
from authservice.kernel.messages import Message
from authservice.kernel.modules import plugs


@dataclass(frozen=True, kw_only=True)
class Letter:
    """A message to one person, to be rendered and sent.

    `context` is for its templates: `link` or `code` with `expires_in`, and the details of the job.
    """

    kind: str
    channel: Literal["email", "sms"]
    to: str
    person: Person
    language: str
    context: Mapping[str, Any] = field(default_factory=dict, repr=False)


def compose(message: Message) -> Letter | None:
    """The letter of a job, or None where nobody is to be written to.

    What is told of it and the secret in it are written together or not at all.
    """
    composer = _composers().get(message.kind)
    if composer is None:
        return None
    with transaction.atomic(using=directory.database()):
        return composer(message)


def _composers() -> Mapping[str, Callable[[Message], Letter | None]]:
    further = [dict(composers()) for composers in plugs("composers")]
    return ChainMap(*further, _COMPOSERS)


def _verify_email(message: Message) -> Letter | None:
    person = reachable(directory.find_by_email(message.target))
    if person is None or person.email_verified:
        return None
    return mail(message, person, **_email_link(tickets.VERIFY_EMAIL, person, links.verify_email))


def _signup(message: Message) -> Letter | None:
    """A sign-up that tells nobody whether the address was taken: its owner learns it by mail."""
    person = reachable(directory.find_by_email(message.target))
    if person is None:
        return None
    if not person.email_verified:
        return _verify_email(replace(message, kind=messages.VERIFY_EMAIL))
    return mail(message, person)


def _reset_by_link(message: Message) -> Letter | None:
    person = reachable(directory.find_by_email(message.target))
    if person is None:
        return None
    if "asked_by" not in message.details:
        _tell_asked(message, person)
    return mail(message, person, **_email_link(tickets.RESET, person, links.reset_password))


def _account_made(message: Message) -> Letter | None:
    """Staff made an account: who uses the link sets a password and proves the address."""
    person = reachable(directory.find_by_email(message.target))
    if person is None or person.user.has_usable_password():
        return None
    purpose = tickets.FIRST_PASSWORD
    token = tickets.mint_link(purpose, person, person.email_key, payload=tickets.PROVES_EMAIL)
    link = links.reset_password(token, person.email)
    return mail(message, person, link=link, expires_in=purpose.link_ttl)


def _verify_phone(message: Message) -> Letter | None:
    person = reachable(directory.find_by_phone(message.target))
    if person is None or person.phone_number_verified:
        return None
    return _text(message, person, tickets.VERIFY_PHONE)


def _reset_by_code(message: Message) -> Letter | None:
    person = reachable(directory.find_by_phone(message.target))
    if person is None or not person.phone_number_verified:
        return None
    _tell_asked(message, person)
    return _text(message, person, tickets.RESET)


def _tell_asked(message: Message, person: Person) -> None:
    """Told here rather than where it was asked for, where nobody is looked up."""
    client = Client(request_id=message.request_id)
    event = Event(action="auth.password.reset_requested", user=person.user, client=client)
    facts.tell(event)


def _access_wiped(message: Message) -> Letter | None:
    """The first proof of the address took the password, so this brings a link to set one."""
    person = reachable(directory.find_by_email(message.target))
    if person is None:
        return None
    return mail(message, person, **_email_link(tickets.RESET, person, links.reset_password))


def notice(message: Message) -> Letter | None:
    """A letter that brings no secret, whatever became of its reader since."""
    person = directory.find_by_email(message.target)
    return mail(message, person) if person else None


def reachable(person: Person | None) -> Person | None:
    """The person, if they may be written to at all."""
    return person if person and person.active else None


def mail(message: Message, person: Person, **context: Any) -> Letter:
    """The letter of a job to the present address of a person."""
    return Letter(
        kind=message.kind,
        channel="email",
        to=person.email,  # the present address, not the one that was typed
        person=person,
        language=message.language,
        context={**message.details, **context},
    )


def _text(message: Message, person: Person, purpose: Purpose) -> Letter:
    return Letter(
        kind=message.kind,
        channel="sms",
        to=person.account.phone_number,
        person=person,
        language=message.language,
        context={
            "code": tickets.mint_code(purpose, person, person.phone_key),
            "expires_in": purpose.code_ttl,
        },
    )


def _email_link(
    purpose: Purpose, person: Person, link: Callable[[str, str], str]
) -> dict[str, str | timedelta]:
    token = tickets.mint_link(purpose, person, person.email_key)
    return {"link": link(token, person.email), "expires_in": purpose.link_ttl}


_COMPOSERS: dict[str, Callable[[Message], Letter | None]] = {
    messages.VERIFY_EMAIL: _verify_email,
    messages.SIGNUP: _signup,
    messages.VERIFY_PHONE: _verify_phone,
    messages.RESET_BY_LINK: _reset_by_link,
    messages.RESET_BY_CODE: _reset_by_code,
    messages.PASSWORD_CHANGED: notice,
    messages.ACCESS_WIPED: _access_wiped,
    messages.WELCOME: notice,
    messages.NEW_DEVICE: notice,
    messages.ACCOUNT_MADE: _account_made,
}
