"""Compose the message of a queued job, in the worker: look up the user and issue the token.

A job has a kind and a target. The request enqueues it in the same way for known and unknown
targets; only the worker finds out whether there is anything to send. A retry of a job issues a new
token.
"""

from __future__ import annotations

import logging
from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Literal

from django.db import transaction

from authservice.core import cleanup
from authservice.core.credentials import one_time, recovery_number
from authservice.core.credentials.one_time import Purpose
from authservice.core.errors import Conflict
from authservice.core.messages import kinds, limits, mailed_links, new_devices, sending
from authservice.core.messages.sending import TextPolicy
from authservice.core.users import host_fields, lookup
from authservice.core.users.person import Person
from authservice.kernel import clock, databases, events, message_queue
from authservice.kernel.client import Client
from authservice.kernel.errors import ValidationFailed
from authservice.kernel.message_queue import Message
from authservice.kernel.modules import plugs
from authservice.kernel.secret import Secret

logger = logging.getLogger("authservice.messages")


@dataclass(frozen=True, kw_only=True)
class OutgoingMessage:
    """A message to one user, to be rendered and sent.

    `person` is None if the recipient of an invitation has no account.
    `context` is for its templates: `link` or `code` with `expires_in`, and the details of the job.
    `counted` are the keys of limits to give back if sending fails.
    """

    kind: str
    channel: Literal["email", "sms"]
    to: str
    person: Person | None
    language: str
    context: Mapping[str, Any] = field(default_factory=dict, repr=False)
    counted: tuple[str, ...] = ()


class UnknownKind(LookupError):
    """No installed module composes messages of this kind."""


_Composer = Callable[[Message], OutgoingMessage | None]
_EVERY_TEXT = TextPolicy()


@clock.once
def compose(message: Message, texts: TextPolicy = _EVERY_TEXT) -> OutgoingMessage | None:
    """The message of a job, or None if there is no recipient or a limit is used up. Raises
    `UnknownKind`.

    Its secret and its audit entry are written in one transaction. `texts` says which text messages
    the host allows.
    """
    cleanup.warn_if_overdue()
    composer = _builders().get(message.kind)
    if composer is None:
        # After a rollback, jobs of the later version still wait. A job that fails is tried again,
        # perhaps by a worker of that version, and is kept after its last attempt.
        raise UnknownKind
    try:
        with host_fields.committing():
            # A message is counted before its secret is issued: beyond the limit none is issued.
            count_here = not message.requested and message.kind not in _COUNTED_BY_COMPOSER
            counted = sending.count_unrequested(message.kind, message.target) if count_here else ()
            outgoing = databases.retry_on_deadlock(lambda: _composed(composer, message, texts))
            return replace(outgoing, counted=(*outgoing.counted, *counted)) if outgoing else None
    except sending.Refused as refused:
        sending.report(refused)
    except (Conflict, ValidationFailed):
        # A repeated job would be refused too.
        logger.exception("The project's table of users refuses what the job %s does", message.kind)
    return None


def _composed(composer: _Composer, message: Message, texts: TextPolicy) -> OutgoingMessage | None:
    with transaction.atomic(using=databases.primary()):
        outgoing = composer(message)
        if outgoing and outgoing.person and outgoing.channel == "sms":
            sending.count_text(outgoing.to, outgoing.person, texts)
    return outgoing


def _builders() -> Mapping[str, _Composer]:
    module_builders = [dict(composers()) for composers in plugs("message_builders")]
    return ChainMap(*module_builders, _COMPOSERS)


def verify_email(message: Message) -> OutgoingMessage | None:
    person = reachable(lookup.find_by_email(message.target))
    if person is None or person.email_verified:
        return None
    return mail(
        message, person, **_email_link(one_time.VERIFY_EMAIL, person, mailed_links.verify_email)
    )


def _reset_by_link(message: Message) -> OutgoingMessage | None:
    person = reachable(lookup.find_by_email(message.target))
    if person is None:
        return None
    if "asked_by" not in message.details:  # a request of staff was recorded when they sent it
        _record_request(message, person)
    is_last = sending.LAST in message.details
    purpose = one_time.LASTING_RESET if is_last else one_time.RESET
    return mail(message, person, **_email_link(purpose, person, mailed_links.reset_password))


def _account_made(message: Message) -> OutgoingMessage | None:
    """The mail of an account that staff created. Its link sets a password and proves the
    address."""
    person = reachable(lookup.find_by_email(message.target))
    if person is None or person.user.has_usable_password():
        return None
    purpose = one_time.FIRST_PASSWORD
    token = one_time.issue_link(purpose, person, person.email_key)
    link = mailed_links.reset_password(token, person.email)
    return mail(message, person, link=link, expires_in=purpose.link_ttl)


def _verify_phone(message: Message) -> OutgoingMessage | None:
    holder = lookup.find_by_phone(message.target)
    if holder and holder.phone_number_verified:
        return None  # verified already, by this account or by another one
    account = message.details.get(sending.ACCOUNT)
    person = reachable(lookup.find_by_id(account) if account else holder)
    if person is None or person.account.phone_number != message.target:
        return None
    return _text(message, person, one_time.VERIFY_PHONE)


def _reset_by_code(message: Message) -> OutgoingMessage | None:
    person = reachable(lookup.find_by_phone(message.target))
    if person is None or not person.phone_number_verified:
        return None
    _record_request(message, person)
    if not recovery_number.may_reset_password(person):
        return _sms(replace(message, kind=kinds.RESET_BY_CODE_REFUSED), person)
    return _text(message, person, one_time.RESET)


def _record_request(message: Message, person: Person) -> None:
    """Record that a reset was requested. The route cannot record it, since it looks up no user."""
    client = Client(request_id=message.request_id)
    events.record("auth.password.reset_requested", person, client)


def _access_wiped(message: Message) -> OutgoingMessage | None:
    """The first proof of the address, or "this was not me", has removed the password: the mail has
    a link to set one."""
    person = reachable(lookup.find_by_email(message.target))
    if person is None:
        return None
    return mail(message, person, **_email_link(one_time.RESET, person, mailed_links.reset_password))


def notice(message: Message) -> OutgoingMessage | None:
    """A mail without a token, sent even if the user is no longer active."""
    person = lookup.find_by_email(message.target)
    return mail(message, person) if person else None


def _changed_by_staff(message: Message) -> OutgoingMessage | None:
    """Sent to the address that the owner had proven before staff changed the account."""
    person = lookup.find_by_id(message.details["user_id"])
    return replace(mail(message, person), to=message.target) if person else None


def _new_device(message: Message) -> OutgoingMessage | None:
    """Sent at once for the first new device of an hour; further ones are listed at the end of the
    hour."""
    person = lookup.find_by_email(message.target)
    if person is None or not person.email_proven:
        return None
    if new_devices.is_familiar(person, message.details):
        return None
    counted = sending.count_new_device(person)
    if counted is not None:
        return replace(mail(message, person), counted=counted)
    due = sending.count_new_devices(person)
    if due is None:
        return None
    # The hour began when its notice was sent. This job may be that of an earlier session.
    begun = due - limits.NEW_DEVICE.window
    if at := message.details.get("at"):
        begun = min(datetime.fromisoformat(at), begun)
    message_queue.send(
        kinds.NEW_DEVICES,
        person.email,
        Client(language=message.language, request_id=message.request_id),
        using=databases.primary(),
        details={"since": (begun - _PARALLEL).isoformat(), "until": due.isoformat()},
        not_before=due,
    )
    return None


def _new_devices(message: Message) -> OutgoingMessage | None:
    person = lookup.find_by_email(message.target)
    if person is None or not person.email_proven:
        return None
    since, until = (datetime.fromisoformat(message.details[name]) for name in ("since", "until"))
    unfamiliar = new_devices.unfamiliar(person, since, until)
    if not unfamiliar:
        return None
    first_rows = unfamiliar[: new_devices.SHOWN]
    return mail(
        message,
        person,
        sessions=[
            {"user_agent": row.user_agent, "ip_address": row.ip_address, "at": row.created_at}
            for row in first_rows
        ],
        more=len(unfamiliar) - len(first_rows),
    )


def reachable(person: Person | None) -> Person | None:
    """The user, if they may get messages: only active users do."""
    return person if person and person.active else None


def mail(message: Message, person: Person, **context: Any) -> OutgoingMessage:
    """The e-mail of a job, to the current address of the user."""
    return OutgoingMessage(
        kind=message.kind,
        channel="email",
        to=person.email,  # the current address, not the one that was typed
        person=person,
        language=message.language,
        context={**message.details, **context},
    )


def hours_until(moment: datetime) -> timedelta:
    """The time left in whole hours, as a mail names it; at least one. Without the tolerance, a few
    minutes in the queue would make 72 hours 71."""
    hour, tolerance = timedelta(hours=1), timedelta(minutes=5)
    return max((moment - clock.now() + tolerance) // hour * hour, hour)


def _text(message: Message, person: Person, purpose: Purpose) -> OutgoingMessage:
    code = one_time.issue_code(purpose, person, person.phone_key)
    return _sms(message, person, code=code, expires_in=purpose.code_ttl)


def _sms(message: Message, person: Person, **context: Any) -> OutgoingMessage:
    """A text message to the current number of a user."""
    return OutgoingMessage(
        kind=message.kind,
        channel="sms",
        to=person.account.phone_number,
        person=person,
        language=message.language,
        context=context,
    )


def _email_link(
    purpose: Purpose, person: Person, link: Callable[[Secret, str], Secret]
) -> dict[str, Secret | timedelta]:
    token = one_time.issue_link(purpose, person, person.email_key)
    return {"link": link(token, person.email), "expires_in": purpose.link_ttl}


_COUNTED_BY_COMPOSER = (kinds.NEW_DEVICE, kinds.NEW_DEVICES)
# Jobs of simultaneous logins may run in any order.
_PARALLEL = timedelta(seconds=5)

_COMPOSERS: dict[str, _Composer] = {
    kinds.VERIFY_EMAIL: verify_email,
    kinds.VERIFY_PHONE: _verify_phone,
    kinds.RESET_BY_LINK: _reset_by_link,
    kinds.RESET_BY_CODE: _reset_by_code,
    kinds.PASSWORD_CHANGED: notice,
    kinds.PASSWORD_UNSAFE: notice,
    kinds.ACCESS_WIPED: _access_wiped,
    kinds.ACCESS_REMOVED: notice,
    kinds.PHONE_LOST: notice,
    kinds.ACCOUNT_SECURED: _access_wiped,
    kinds.WELCOME: notice,
    kinds.NEW_DEVICE: _new_device,
    kinds.NEW_DEVICES: _new_devices,
    kinds.ACCOUNT_MADE: _account_made,
    kinds.CHANGED_BY_STAFF: _changed_by_staff,
}
