"""The link "this was not me" of a security notice: undo the change and lock the intruder out.

Every reader of the owner's mailbox can use it, once, for 72 hours. No later change revokes it: an
intruder who changes the number, then the password, then the number again cannot invalidate the link
of the first change. Using it revokes the links of all later changes.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction

from authservice.core import errors
from authservice.core.credentials import one_time, passwords, recovery_number
from authservice.core.messages import kinds, security_notice
from authservice.core.models import Account, OneTimeToken, PhoneSource
from authservice.core.recovery import phone_numbers, takeover
from authservice.core.users import creation, host_fields, identifiers, lookup
from authservice.core.users.person import Person
from authservice.core.users.signals import own_save
from authservice.core.users.user_model import host
from authservice.kernel import clock, databases, events, message_queue
from authservice.kernel.client import Client
from authservice.kernel.errors import Fault
from authservice.kernel.interfaces import AccountAccess
from authservice.kernel.modules import plugs
from authservice.kernel.secret import Secret

logger = logging.getLogger("authservice.accounts")

# A request of the intruder may have begun shortly before the one that made this change, and have
# added access after it: what it stored has the time at which it began.
_OVERLAP = timedelta(seconds=30)


def require_usable(token: Secret) -> None:
    """Raises `InvalidLink` or `LinkExpired`; changes nothing."""
    one_time.find_link(one_time.SECURE, token)


def secure(token: Secret, client: Client) -> None:
    """Undo the change that the link was mailed for; a second use does nothing and succeeds.

    Raises `InvalidLink` or `LinkExpired`.
    """
    person, issued = one_time.find_link(one_time.SECURE, token)
    with transaction.atomic(using=databases.primary()):
        # Others may have the number that the account gets back, and lose it.
        phone_numbers.lock(person, issued.payload["phone_key"])
        passwords.lock_and_read(person)
        present = lookup.find_by_pk(person.user.pk)
        if present is None or not present.active:
            raise errors.InvalidLink
        # A spent token was used, or an earlier link has undone this change too.
        if one_time.consume(issued):
            _undo(present, issued, client)


def _undo(person: Person, issued: OneTimeToken, client: Client) -> None:
    before = issued.payload
    security_notice.end_later(issued)
    since = datetime.fromisoformat(before["since"]) - _OVERLAP
    takeover.evict(takeover.SECURED, person, client, since=since)
    for access in plugs(AccountAccess):
        access.restore(person, since)
    changes = {**_restore_number(person, before, client), **_restore_email(person, before)}
    passwords.store(person, creation.unusable())
    takeover.record_recovery(person)
    events.record("user.secured", person, client, **changes)
    if person.email == before["email"]:
        using = databases.primary()
        message_queue.send(kinds.ACCOUNT_SECURED, person.email, client, using=using)


def _restore_number(person: Person, before: Mapping[str, Any], client: Client) -> Mapping[str, Any]:
    number = person.account.phone_number
    fields = _fields(before, security_notice.NUMBER, security_notice.NUMBER_TIMES)
    if _is_recent(fields) and fields["phone_set_by"] != PhoneSource.SIGNUP:
        # The intruder may have set this number too, by an earlier change, so it has to wait 72
        # hours again.
        fields["phone_set_by"] = PhoneSource.SESSION
    if phone_numbers.is_taken(person, fields["phone_key"]) or not _write(person, fields):
        fields = dict(phone_numbers.NO_NUMBER)  # another user has verified it since
        _write(person, fields)
    if person.phone_number_verified:
        phone_numbers.take(person, person.phone_key, client)
    if fields["phone_number"] == number:
        return {}
    return {"phone_number": {"before": number, "after": fields["phone_number"]}}


def _is_recent(fields: Mapping[str, Any]) -> bool:
    added_at = fields["phone_added_at"]
    return added_at is not None and added_at > clock.now() - recovery_number.WAIT


def _restore_email(person: Person, before: Mapping[str, Any]) -> Mapping[str, Any]:
    email, present = before["email"], person.email
    if email == present:
        return {}
    try:
        with transaction.atomic(using=databases.primary()):
            _set_email(person, email)
    except (IntegrityError, Fault):
        logger.warning("The former address of user %s is taken and was not restored", person.id)
        if host().email:
            setattr(person.user, host().email, present)
        return {}
    _write(person, _fields(before, security_notice.PROOFS, security_notice.PROOF_TIMES))
    return {"email": {"before": present, "after": email}}


def _set_email(person: Person, email: str) -> None:
    if host().email:
        host_fields.set_value(person.user, host().email, email, field="email")
        with own_save(), host_fields.saving():
            person.user.save(using=databases.primary(), update_fields=[host().email])
        lookup.sync_account(person)
        return
    key = identifiers.email_key(email) if email else None
    fields = {"email": email, "email_key": key, "email_claim": key or ""}
    Account.objects.filter(pk=person.user.pk).update(**fields)
    for name, value in fields.items():
        setattr(person.account, name, value)


def _fields(
    before: Mapping[str, Any], plain: tuple[str, ...], times: tuple[str, ...]
) -> dict[str, Any]:
    moments = {name: before[name] and datetime.fromisoformat(before[name]) for name in times}
    return {**{name: before[name] for name in plain}, **moments}


def _write(person: Person, fields: Mapping[str, Any]) -> bool:
    """Update the account; False if another account has one of the keys."""
    using = databases.primary()
    try:
        with transaction.atomic(using=using):
            Account.objects.filter(pk=person.user.pk).update(**fields)
    except IntegrityError:
        return False
    for name, value in fields.items():
        setattr(person.account, name, value)
    return True
