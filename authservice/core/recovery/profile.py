"""Users change their own name, phone number and avatar."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from authservice.core.conf import core
from authservice.core.credentials import attempt_counter
from authservice.core.credentials.attempt_counter import Budget
from authservice.core.messages import security_notice
from authservice.core.models import Account, PhoneSource, Session
from authservice.core.recovery import recent_proof, takeover
from authservice.core.sessions import sessions
from authservice.core.users import identifiers
from authservice.core.users.further_fields import NOTHING, FurtherFields
from authservice.core.users.person import Person
from authservice.kernel import databases, errors, events, message_queue, throttling
from authservice.kernel.client import Client
from authservice.kernel.phrases import phrase
from authservice.kernel.secret import Secret

NO_PASSWORD = Secret("")
_EVENTS = {"phone_number": "user.phone.changed", "avatar": "user.avatar.updated"}
# Each changed number can cause a text message, which costs money.
_NUMBERS = Budget.fixed(limit=5, window=timedelta(days=1))


def update(
    person: Person,
    session: Session,
    changes: dict[str, str],
    client: Client,
    *,
    password: Secret = NO_PASSWORD,
    further: FurtherFields = NOTHING,
) -> Person:
    """Store changed values of `name`, `phone_number` and `avatar`; "" clears a field. Stores the
    further fields of the host project in the same transaction. Returns the user as stored.

    `password` is the current one or "". A changed number is unverified. If it was set with the
    password, it may reset the password as soon as it is verified, see `recovery_number`. Raises
    `ValidationFailed` for a number that may not be removed, `PhoneAlreadyInUse`,
    `TooManyRequests`, `InvalidToken`, and as `recent_proof.require_recent` does.
    """
    number = changes.get("phone_number")
    if number == "" and person.account.phone_number and core.require_phone_verification:
        # Without a number the user could not log in any more.
        raise errors.invalid("phone", phrase("This field is required."))
    if password or _differs(person, number):
        recent_proof.require_recent(person, session, password, client, method="profile")
    if not changes and not further:
        return person
    try:
        with _counted(person, number if _differs(person, number) else "", client):
            return _store(person, session, changes, client, further, proven=bool(password))
    except IntegrityError:
        further.require_valid()
        raise


def _differs(person: Person, number: str | None) -> bool:
    return number is not None and number != person.account.phone_number


@contextmanager
def _counted(person: Person, number: str | None, client: Client) -> Iterator[None]:
    """Limit new numbers: 5 per account and day; refused ones count under `is-available`."""
    if not number:
        yield
        return
    key = attempt_counter.key("changed-number", person.id)
    # Counted before the lookup: beyond the limit no client learns whether a number is taken.
    throttling.count("is-available", client.network)
    attempt_counter.consume_flood(key, _NUMBERS)
    try:
        yield
    except errors.PhoneAlreadyInUse:
        attempt_counter.refund(key)
        raise
    throttling.refund("is-available", client.network)


def _store(
    person: Person,
    session: Session,
    changes: dict[str, str],
    client: Client,
    further: FurtherFields,
    *,
    proven: bool,
) -> Person:
    unverified = _unverified(person, changes.get("phone_number"))
    holders = list(unverified.values_list("user_id", flat=True))
    with sessions.changing(person, session, *holders) as present:
        account = present.account
        before = {name: getattr(account, name) for name in changes}
        changed = {name: value for name, value in changes.items() if value != before[name]}
        fields: dict[str, Any] = dict(changed)
        state = security_notice.state_of(present)
        if "phone_number" in changed:
            fields |= _number(changed["phone_number"], proven=proven)
            _displace(unverified.filter(user__in=holders), present, client)
        elif changes.get("phone_number"):
            fields |= _confirmed(account, proven=proven)
        of_host = further.change(present.user) if further else []
        if changed or of_host:
            fields["updated_at"] = timezone.now()
        _write(account, fields)
        if changed or of_host:
            _record(present, changed, before, client, of_host)
        if "phone_number" in changed:
            security_notice.notify(message_queue.PHONE_CHANGED, present, client, state)
    return present


def _number(number: str, *, proven: bool) -> dict[str, Any]:
    if not number:
        return dict(takeover.NO_NUMBER)
    return {
        "phone_number": number,
        "phone_key": identifiers.phone_key(number),
        "verified_phone_key": "",
        "phone_set_by": PhoneSource.PASSWORD if proven else PhoneSource.SESSION,
        "phone_added_at": timezone.now(),
        "phone_verified_at": None,
    }


def _confirmed(account: Account, *, proven: bool) -> dict[str, Any]:
    """The changed fields if the logged-in user sends the number that is already stored.

    Without the password nothing changes: a client sends all fields of its form, so a user who
    changes the name would confirm a number of staff without knowing.
    """
    if not proven or account.phone_set_by == PhoneSource.SIGNUP:
        return {}
    by_staff = account.phone_set_by in (PhoneSource.STAFF, PhoneSource.CONFIRMED)
    return {"phone_set_by": PhoneSource.CONFIRMED if by_staff else PhoneSource.PASSWORD}


def _unverified(person: Person, number: str | None) -> QuerySet[Account]:
    """The account of another user from which this number is taken: one that never verified it.

    Otherwise any user could block a number for its owner by entering it. This is not done if users
    need a verified number to log in (the other user could not set it again), nor if no SMS sender
    is configured.
    """
    kept = core.require_phone_verification or not message_queue.can_sms()
    if not number or kept or not _differs(person, number):
        return Account.objects.none()
    key = identifiers.phone_key(number)
    rows = Account.objects.exclude(pk=person.account.pk)
    return rows.filter(phone_key=key).exclude(verified_phone_key=key)


def _displace(unverified: QuerySet[Account], by: Person, client: Client) -> None:
    """Take the number from its account, whose user is locked: a verification of the number by that
    user at the same moment either comes first, and the number stays, or is refused."""
    holder = unverified.select_related("user").first()
    if holder is None or not unverified.filter(pk=holder.pk).update(**takeover.NO_NUMBER):
        return
    change = {"before": holder.phone_number, "after": ""}
    events.record("user.phone.changed", by, client, target=holder.user, phone_number=change)


def _write(account: Account, fields: dict[str, Any]) -> None:
    if not fields:
        return
    using = databases.primary()
    try:
        with transaction.atomic(using=using):
            Account.objects.filter(pk=account.pk).update(**fields)
    except IntegrityError as wrong:
        raise errors.PhoneAlreadyInUse from wrong
    for name, value in fields.items():
        setattr(account, name, value)


def _record(
    person: Person,
    changed: dict[str, str],
    before: dict[str, Any],
    client: Client,
    of_host: list[str],
) -> None:
    actions = ["user.profile.updated", *(_EVENTS[name] for name in changed if name in _EVENTS)]
    metadata: dict[str, Any] = {
        name: {"before": before[name], "after": value} for name, value in changed.items()
    }
    if of_host:
        metadata["further_fields"] = of_host  # their values may be as sensitive as any
    for action in actions:
        events.record(action, person, client, **metadata)
