"""Users change their own name, username, phone number and avatar."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.db import IntegrityError

from authservice.core import errors
from authservice.core.conf import core
from authservice.core.credentials import attempt_counter
from authservice.core.credentials.attempt_counter import Budget
from authservice.core.messages import kinds, security_notice
from authservice.core.models import Account, PhoneSource, Session
from authservice.core.recovery import phone_numbers, recent_proof
from authservice.core.recovery.recent_proof import Proof
from authservice.core.sessions import sessions
from authservice.core.users import identifier_change, identifiers
from authservice.core.users.extra_fields import NOTHING, ExtraFields
from authservice.core.users.identifiers import USERNAME
from authservice.core.users.person import Person
from authservice.kernel import clock, events, throttling
from authservice.kernel.client import Client
from authservice.kernel.errors import invalid
from authservice.kernel.languages import phrase
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
    extra_fields: ExtraFields = NOTHING,
) -> Person:
    """Store changed values of `name`, `phone_number` and `avatar`; "" clears a field. Stores the
    extra fields of the host project in the same transaction. Returns the user as stored.

    `password` is the current password or "". A changed number is unverified. A number that was set
    with the password may reset the password as soon as it is verified, see `recovery_number`.
    Raises `ValidationFailed` for a number that may not be removed, `PhoneAlreadyInUse`,
    `TooManyRequests`, `InvalidToken`, and the errors of `recent_proof.require_recent`.
    """
    number = changes.get("phone_number")
    if number == "" and person.account.phone_number and core.require_phone_verification:
        # Without a number the user could not log in any more. Requests call the field "phone".
        raise invalid("phone", phrase("This field is required."))
    if password or _differs(person, number):
        recent_proof.require_recent(person, session, password, client, method="profile")
    if not changes and not extra_fields:
        return person
    try:
        with _counted(person, number if _differs(person, number) else "", client):
            return _store(person, session, changes, client, extra_fields, proven=bool(password))
    except (IntegrityError, errors.Conflict):
        # If a unique extra value was taken meanwhile, this raises an error that names its field.
        extra_fields.require_valid()
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
    extra_fields: ExtraFields,
    *,
    proven: bool,
) -> Person:
    number = changes.get("phone_number") or ""
    holders = phone_numbers.users_with(number) if _differs(person, number) else []
    with sessions.changing(person, session, *holders) as present:
        account = present.account
        before = {name: getattr(account, name) for name in changes}
        new_values = {name: value for name, value in changes.items() if value != before[name]}
        fields: dict[str, Any] = dict(new_values)
        state_before = security_notice.state_of(present)

        if "phone_number" in new_values:
            phone_numbers.require_free(present, new_values["phone_number"])
            fields |= _number_fields(new_values["phone_number"], proven=proven)
        elif changes.get("phone_number"):
            fields |= _confirmed(account, proven=proven)
        extra_names = extra_fields.change(present.user) if extra_fields else []
        if new_values or extra_names:
            fields["updated_at"] = clock.now()
        if fields:
            Account.objects.filter(pk=account.pk).update(**fields)
            for name, value in fields.items():
                setattr(account, name, value)

        if new_values or extra_names:
            metadata: dict[str, Any] = {
                name: {"before": before[name], "after": value} for name, value in new_values.items()
            }
            if extra_names:
                metadata["further_fields"] = extra_names  # no values: they may be sensitive
            actions = [_EVENTS[name] for name in new_values if name in _EVENTS]
            for action in ("user.profile.updated", *actions):
                events.record(action, present, client, **metadata)
        if "phone_number" in new_values:
            security_notice.notify(kinds.PHONE_CHANGED, present, client, state_before)
    return present


def _number_fields(number: str, *, proven: bool) -> dict[str, Any]:
    if not number:
        return dict(phone_numbers.NO_NUMBER)
    return {
        "phone_number": number,
        "phone_key": identifiers.phone_key(number),
        "verified_phone_key": None,
        "phone_set_by": PhoneSource.PASSWORD if proven else PhoneSource.SESSION,
        "phone_added_at": clock.now(),
        "phone_verified_at": None,
    }


def _confirmed(account: Account, *, proven: bool) -> dict[str, Any]:
    """The changed fields if the logged-in user sends the number that is already stored.

    Without the password nothing changes: a client sends all fields of its form, so a user who
    changes only the name would confirm, without knowing it, a number that staff set.
    """
    if not proven or account.phone_set_by == PhoneSource.SIGNUP:
        return {}
    by_staff = account.phone_set_by in (PhoneSource.STAFF, PhoneSource.CONFIRMED)
    return {"phone_set_by": PhoneSource.CONFIRMED if by_staff else PhoneSource.PASSWORD}


def change_username(
    person: Person, session: Session, username: str, proof: Proof, client: Client
) -> Person:
    """Store the username; returns the user as stored.

    Raises the errors of `recent_proof.require_owner`, `UsernameAlreadyExists`, `ValidationFailed`,
    `TooManyRequests` and `InvalidToken`.
    """
    if proof.password and proof.code:
        # Only then does `require_owner` use up a code, perhaps a backup code, which a taken
        # username must not cost. This check reveals no more than `POST /is-available`, and counts
        # under its limit. A free username goes on to the check of the password, which counts as an
        # attempt.
        with identifier_change.counted(client):
            identifier_change.require_free(person, USERNAME, username)
    recent_proof.require_owner(person, session, proof, client, method="change_username")
    with identifier_change.counted(client), sessions.changing(person, session) as present:
        recent_proof.require_unchanged(person, present)
        before = present.username
        if username != before:
            identifier_change.replace(present, USERNAME, username)
            change = {"before": before, "after": username}
            events.record("user.username.changed", present, client, username=change)
    return present
