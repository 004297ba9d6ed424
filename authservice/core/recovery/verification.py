"""Verify an address or a number. The key of the verified value is stored, so a changed address or
number is unverified."""

from __future__ import annotations

from django.db import transaction

from authservice.core import errors
from authservice.core.conf import core
from authservice.core.credentials import one_time, passwords
from authservice.core.credentials.one_time import Purpose
from authservice.core.messages import kinds, sending
from authservice.core.models import Account, OneTimeToken
from authservice.core.recovery import phone_numbers, takeover
from authservice.core.users import identifiers, lookup
from authservice.core.users.person import Person
from authservice.kernel import clock, databases, events, message_queue
from authservice.kernel.client import Client
from authservice.kernel.secret import Secret


def send_to_email(email: str, client: Client) -> None:
    sending.to_email(kinds.VERIFY_EMAIL, email, client)


def send_to_phone(phone: str, client: Client, *, caller: Person | None = None) -> None:
    """Text a code to the number of the `caller`, the user who is signed in in the client; without a
    caller, for the only account that has the number. Raises `SmsNotConfigured`."""
    details = {sending.ACCOUNT: caller.id} if caller else {}
    sending.to_phone(kinds.VERIFY_PHONE, phone, client, details=details, account=caller)


def text_after_commit(person: Person, phone: str, client: Client) -> None:
    """Text a code, within the limits on texts. The text is counted after the commit: otherwise
    every other sign-up of the same network would wait for the locked counter."""

    def send() -> None:  # Django logs the name of a callback that fails; a partial has none
        if message_queue.can_sms():
            send_to_phone(phone, client, caller=person)

    databases.after_commit(send)


def text_if_shared(person: Person, client: Client) -> None:
    """Text a code to a user whose login is refused because the number is not verified, if other
    accounts have the number too: the user has no access token yet, and `send_to_phone` cannot
    select one of several accounts without it."""
    if phone_numbers.is_shared(person):
        text_after_commit(person, person.account.phone_number, client)


def verify_email(
    token: Secret,
    email: str,
    client: Client,
    *,
    proof: bool,
    signed_up_here: bool = False,
    caller: Person | None = None,
) -> None:
    """Verify by a mailed link; a second click before the link expires succeeds again.

    `proof` says that a human opened the link. Otherwise a mail scanner may have opened it: the
    address is verified but not proven, and the same link can still prove it later. `signed_up_here`
    says that the browser of the sign-up opened it; `caller` is described at
    `first_proof.confirm_address`. See `takeover.distrust` for proofs by other clients.

    Raises `InvalidVerificationToken` or `VerificationTokenExpired`.
    """
    person, issued = find_link(token, email)
    with transaction.atomic(using=databases.primary()):
        present = lock_owner(person, issued)
        is_first_use = one_time.consume(issued)
        if not is_first_use and not present.email_verified:
            raise errors.InvalidVerificationToken  # the sign-up was denied
        if proof and not present.email_proven:
            accept_email(present, client)
            if not (signed_up_here or is_same(present, caller)):
                takeover.distrust(present, client)
        elif not present.email_verified:
            rows = Account.objects.filter(pk=present.user.pk)
            rows.update(verified_email_key=present.email_key)
            events.record("user.email.verified", present, client)
        if is_first_use:
            using = databases.primary()
            message_queue.send(kinds.WELCOME, present.email, client, using=using)


def require_usable(token: Secret, email: str) -> None:
    """Raises what `verify_email` would raise now for this link, without a lock; changes nothing."""
    person, issued = find_link(token, email)
    denied = issued.spent_at is not None and not person.email_verified
    if denied or not person.active:
        raise errors.InvalidVerificationToken


def lock_owner(person: Person, issued: OneTimeToken) -> Person:
    """Lock the user of a verification link; returns the user as they are now.

    Without the lock, a confirmation and a denial at the same moment could each treat the account as
    it was before the other. Raises `InvalidVerificationToken` if the link is no longer valid.
    """
    passwords.lock_user(person)
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
    except errors.LinkExpired as error:
        if not was_mailed_to(email, one_time.VERIFY_EMAIL, token):
            raise errors.InvalidVerificationToken from error
        raise errors.VerificationTokenExpired from error
    except errors.InvalidLink as error:
        raise errors.InvalidVerificationToken from error
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


def is_same(person: Person, caller: Person | None) -> bool:
    """Whether `caller`, the user who is signed in in the client, is this person."""
    return caller is not None and caller.user.pk == person.user.pk


def accept_email(person: Person, client: Client) -> None:
    """Store that the owner of the mailbox has proven the current address."""
    if person.email_proven:
        return
    was_verified = person.email_verified
    fields = {
        "verified_email_key": person.email_key,
        "proven_email_key": person.email_key,
        "email_proven_at": clock.now(),
    }
    if Account.objects.filter(pk=person.user.pk).update(**fields):
        for name, value in fields.items():
            setattr(person.account, name, value)
    if not was_verified:
        events.record("user.email.verified", person, client)


def verify_phone(phone: str, code: Secret, client: Client, *, caller: Person | None = None) -> None:
    """Verify by a texted code that was requested for the account of the `caller`, as in
    `send_to_phone`: a code of another account proves nothing for this one.

    Where a login requires a verified number, the owner of the number has no access token yet. If
    several accounts have the number, a code proves it for the account that the code was texted for:
    otherwise an attacker who signs up with the number could lock its owner out.

    Every other account that has the number loses it. Raises the errors of `one_time.find_code`.
    """
    owner = caller or lookup.find_by_phone(phone)
    try:
        _verify_phone(phone, code, client, owner)
    except errors.InvalidVerificationCode:
        # Recorded for unknown numbers too, so that time and statements are the same.
        events.record("auth.code.failed", owner, client)
        raise


def _verify_phone(phone: str, code: Secret, client: Client, owner: Person | None) -> None:
    key = identifiers.phone_key(phone)
    purpose = one_time.VERIFY_PHONE
    if owner is None and core.require_phone_verification:
        person, issued = one_time.find_code_of_any(purpose, key, code, client=client)
    else:
        person, issued = one_time.find_code(purpose, key, code, client=client, owner=owner)
    with transaction.atomic(using=databases.primary()):
        phone_numbers.lock(person, key)
        # The number may have been changed, or verified by another account, since it was read.
        present = one_time.consume_for(purpose, person, issued)
        verified_at = clock.now()
        if present is None or not phone_numbers.store_verified(
            present, key, phone_verified_at=verified_at
        ):
            raise errors.InvalidVerificationCode
        events.record("user.phone.verified", present, client)
        phone_numbers.take(present, key, client)
