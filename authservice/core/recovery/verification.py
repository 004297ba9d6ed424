"""Verify an address or a number. The verified value is stored, so a changed one is unverified."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from authservice.core.credentials import one_time, passwords
from authservice.core.credentials.one_time import Purpose
from authservice.core.messages import sending
from authservice.core.models import Account, OneTimeToken
from authservice.core.recovery import earlier_access
from authservice.core.users import identifiers, lookup
from authservice.core.users.person import Person
from authservice.kernel import databases, errors, events, message_queue
from authservice.kernel.client import Client
from authservice.kernel.retries import after_commit
from authservice.kernel.secret import Secret


def send_to_email(email: str, client: Client) -> None:
    sending.to_email(message_queue.VERIFY_EMAIL, email, client)


def send_to_phone(phone: str, client: Client) -> None:
    """Raises `SmsNotConfigured`."""
    sending.to_phone(message_queue.VERIFY_PHONE, phone, client)


def text_after_commit(phone: str, client: Client) -> None:
    """Text a code, within the limits on texts. They are counted after the commit: otherwise every
    other sign-up of the same network would wait for the locked counter."""

    def send() -> None:  # Django logs the name of a callback that fails, and a partial has none
        if message_queue.can_sms():
            send_to_phone(phone, client)

    after_commit(send)


def verify_email(
    token: Secret,
    email: str,
    client: Client,
    *,
    proof: bool,
    signed_up_here: bool = False,
    caller: Person | None = None,
) -> None:
    """Verify by a mailed link; a second click before it expires succeeds again.

    `proof` says that a human opened it. Otherwise it may have been a mail scanner: the address is
    verified but not proven, and the same link can still prove it later. `signed_up_here` says that
    it was the browser of the sign-up; `caller` is the user of a valid access token in the request.
    See `earlier_access` for proofs by other clients.

    Raises `InvalidVerificationToken` or `VerificationTokenExpired`.
    """
    person, issued = find_link(token, email)
    with transaction.atomic(using=databases.primary()):
        present = lock_owner(person, issued)
        first = one_time.consume(issued)
        if not first and not present.email_verified:
            raise errors.InvalidVerificationToken  # the sign-up was denied
        if proof and not present.email_proven:
            accept_email(present, client)
            if not (signed_up_here or is_same(present, caller)):
                earlier_access.distrust(present, client)
        elif not present.email_verified:
            _verify_without_proof(present, client)
        if first:
            using = databases.primary()
            message_queue.send(message_queue.WELCOME, present.email, client, using=using)


def lock_owner(person: Person, issued: OneTimeToken) -> Person:
    """Lock the user of a verification link; returns the user as they are now.

    Without the lock, a confirmation and a denial at the same moment could each treat the account as
    it was before the other. Raises `InvalidVerificationToken` if the link is no longer valid.
    """
    passwords.lock_and_read(person)
    present = lookup.find_by_pk(person.user.pk)
    if present is None or not present.active or present.email_key != issued.target_key:
        raise errors.InvalidVerificationToken
    return present


def find_link(token: Secret, email: str) -> tuple[Person, OneTimeToken]:
    """The user and the row of a verification link, spent or not.

    Raises `InvalidVerificationToken` or `VerificationTokenExpired`.
    """
    try:
        person, issued = one_time.find_link(one_time.VERIFY_EMAIL, token)
    except errors.LinkExpired as wrong:
        if not was_mailed_to(email, one_time.VERIFY_EMAIL, token):
            raise errors.InvalidVerificationToken from wrong
        raise errors.VerificationTokenExpired from wrong
    except errors.InvalidLink as wrong:
        raise errors.InvalidVerificationToken from wrong
    key = identifiers.email_key(email)
    if issued.target_key != key or person.email_key != key:
        raise errors.InvalidVerificationToken
    return person, issued


def was_mailed_to(email: str, purpose: Purpose, token: Secret) -> bool:
    """Whether a link, also an expired one, was mailed to this address.

    "Expired" says that a token was valid once, so only a client that knows the address may get it.
    """
    digests = one_time.name_digests(purpose.name, token)
    rows = OneTimeToken.objects.filter(digest__in=digests)
    return rows.filter(target_key=identifiers.email_key(email)).exists()


def _verify_without_proof(person: Person, client: Client) -> None:
    rows = Account.objects.filter(pk=person.user.pk)
    rows.update(verified_email_key=person.email_key)
    events.record("user.email.verified", person, client)


def is_same(person: Person, caller: Person | None) -> bool:
    """Whether the user of a valid access token in the request is this one."""
    return caller is not None and caller.user.pk == person.user.pk


def accept_email(person: Person, client: Client) -> None:
    """Store that the owner of the mailbox has proven the current address."""
    if person.email_proven:
        return
    key = person.email_key
    known = person.email_verified
    proven = {"proven_email_key": key, "email_proven_at": timezone.now()}
    _store(person, verified_email_key=key, **proven)
    if not known:
        events.record("user.email.verified", person, client)


def verify_phone(phone: str, code: Secret, client: Client) -> None:
    """Verify by a texted code. Raises as `one_time.find_code` does."""
    try:
        _verify_phone(phone, code, client)
    except errors.InvalidVerificationCode:
        # Recorded for unknown numbers too, so that time and statements are the same.
        events.record("auth.code.failed", lookup.find_by_phone(phone), client)
        raise


def _verify_phone(phone: str, code: Secret, client: Client) -> None:
    key = identifiers.phone_key(phone)
    person, issued = one_time.find_code(one_time.VERIFY_PHONE, key, code, client=client)
    with transaction.atomic(using=databases.primary()):
        # The number may have been changed, or taken by another account, since it was read.
        present = one_time.consume_for(one_time.VERIFY_PHONE, person, issued)
        if present is None:
            raise errors.InvalidVerificationCode
        # The host project may have changed it without the lock, which `consume_for` takes.
        proven = {"verified_phone_key": key, "phone_verified_at": timezone.now()}
        if not _store(present, Q(phone_key=key), **proven):
            raise errors.InvalidVerificationCode
        events.record("user.phone.verified", present, client)


def _store(person: Person, *conditions: Q, **proven: Any) -> bool:
    """Whether the account still meets the conditions; otherwise nothing is stored."""
    if not Account.objects.filter(*conditions, pk=person.user.pk).update(**proven):
        return False
    for name, value in proven.items():
        setattr(person.account, name, value)
    return True
