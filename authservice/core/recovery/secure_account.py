"""The link "this was not me" of a security notice: undo the change and lock the intruder out.

Every reader of the owner's mailbox can use it, once, for 72 hours. No later change revokes it: an
intruder who changes the number, then the password, then the number again cannot invalidate the link
of the first change. The use of a link revokes the links of all later changes.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction

from authservice.core import errors
from authservice.core.conf import core
from authservice.core.credentials import one_time, passwords, recovery_number
from authservice.core.messages import kinds, security_notice
from authservice.core.models import Account, PhoneSource
from authservice.core.recovery import phone_numbers, takeover
from authservice.core.users import creation, host_fields, identifiers, lookup
from authservice.core.users.person import Person, sync_account
from authservice.core.users.user_model import host
from authservice.kernel import clock, databases, events, message_queue
from authservice.kernel.client import Client
from authservice.kernel.errors import Fault
from authservice.kernel.interfaces import AccountAccess
from authservice.kernel.modules import plugs
from authservice.kernel.secret import Secret

logger = logging.getLogger("authservice.accounts")

# What a request adds has the time at which the request began. A request of the intruder may have
# begun shortly before the request that made this change, and have added access after the change.
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
        # Also lock the users who lose the number that the account gets back.
        phone_numbers.lock(person, issued.payload["phone_key"])
        passwords.lock_user(person)
        present = lookup.find_by_pk(person.user.pk)
        if present is None or not present.active:
            raise errors.InvalidLink
        # A spent token was used before, or an earlier link has undone this change too.
        if not one_time.consume(issued):
            return

        before = issued.payload
        security_notice.end_later(issued)
        since = _moment(before["since"]) - _OVERLAP
        if identifiers.email_key(before["email"]) != present.email_key:
            # What the owner added before the change counts by the proof of the address that is
            # restored, not by that of the intruder's.
            proof = _fields(before, (), security_notice.PROOF_TIMES)
            present.account.email_proven_at = proof["email_proven_at"]
        takeover.evict(takeover.SECURED, present, client, since=since)
        for access in plugs(AccountAccess):
            access.restore(present, since)
        changes = {**_restore_number(present, before, client), **_restore_email(present, before)}
        passwords.store(present, creation.unusable())
        takeover.record_recovery(present)
        events.record("user.secured", present, client, **changes)
        # If the former address was not restored, the current one may be that of the intruder.
        if present.email == before["email"]:
            using = databases.primary()
            message_queue.send(kinds.ACCOUNT_SECURED, present.email, client, using=using)


def _restore_number(person: Person, before: Mapping[str, Any], client: Client) -> Mapping[str, Any]:
    current_number = person.account.phone_number
    fields = _fields(before, security_notice.NUMBER, security_notice.NUMBER_TIMES)
    added_at = fields["phone_added_at"]
    is_recent = added_at is not None and added_at > clock.now() - recovery_number.WAIT
    if is_recent and fields["phone_set_by"] != PhoneSource.SIGNUP:
        # The intruder may have set this number too, by an earlier change, so it has to wait 72
        # hours again.
        fields["phone_set_by"] = PhoneSource.SESSION
    is_free = not phone_numbers.is_taken(person, fields["phone_key"])
    if not (is_free and fields["phone_number"]) and _must_keep(person):
        # As in a recovery: without a verified number the owner could neither log in nor set one.
        _write(person, {"phone_set_by": PhoneSource.STAFF})
        return {}
    if not is_free or not _write(person, fields):
        fields = dict(phone_numbers.NO_NUMBER)  # another user has verified the former number since
        _write(person, fields)
    if person.phone_number_verified:
        phone_numbers.take(person, person.phone_key, client)
    if fields["phone_number"] == current_number:
        return {}
    return {"phone_number": {"before": current_number, "after": fields["phone_number"]}}


def _must_keep(person: Person) -> bool:
    return core.require_phone_verification and person.phone_number_verified


def _restore_email(person: Person, before: Mapping[str, Any]) -> Mapping[str, Any]:
    email = before["email"]
    current_email = person.email
    if email == current_email:
        return {}
    try:
        with transaction.atomic(using=databases.primary()):
            _set_email(person, email)
    except (IntegrityError, Fault):
        logger.warning("The former address of user %s is taken and was not restored", person.id)
        if host().email:
            setattr(person.user, host().email, current_email)
        return {}
    _write(person, _fields(before, security_notice.PROOFS, security_notice.PROOF_TIMES))
    return {"email": {"before": current_email, "after": email}}


def _set_email(person: Person, email: str) -> None:
    if host().email:
        host_fields.set_value(person.user, host().email, email, field="email")
        with lookup.own_save(), host_fields.saving():
            person.user.save(using=databases.primary(), update_fields=[host().email])
        sync_account(person)
        return
    key = identifiers.email_key(email) if email else None
    fields = {"email": email, "email_key": key, "email_claim": key or ""}
    Account.objects.filter(pk=person.user.pk).update(**fields)
    for name, value in fields.items():
        setattr(person.account, name, value)


def _fields(
    before: Mapping[str, Any], plain: tuple[str, ...], times: tuple[str, ...]
) -> dict[str, Any]:
    moments = {name: before[name] and _moment(before[name]) for name in times}
    return {**{name: before[name] for name in plain}, **moments}


def _moment(text: str) -> datetime:
    # In UTC or naive: the project may have changed `USE_TZ` since the link was mailed.
    return clock.stored(datetime.fromisoformat(text))


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
