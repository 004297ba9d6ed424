"""The first proof of an address revokes all access that was set up before it.

An attacker can sign up with the address of a victim, wait until the victim logs in by a mailed link
or a provider, and keep access. So everything that was set up before the proof is removed, also if
the victim denies the sign-up.
"""

from __future__ import annotations

from django.db import transaction

from authservice.core import errors
from authservice.core.conf import core
from authservice.core.credentials import passwords
from authservice.core.messages import kinds
from authservice.core.models import Account, Session
from authservice.core.recovery import takeover, verification
from authservice.core.users import creation, lookup
from authservice.core.users.person import Person
from authservice.kernel import databases, events, message_queue
from authservice.kernel.client import Client
from authservice.kernel.interfaces import AccountAccess, ForeignTokens, SecondFactor
from authservice.kernel.modules import plugs
from authservice.kernel.secret import Secret


@databases.inside_transaction
def confirm_address(person: Person, client: Client, *, caller: Person | None = None) -> Person:
    """Mark the current address as proven; returns the changed user.

    `caller` is the user who is signed in in the client that proves it, as
    `core/api/callers.py` finds out: if that user proves the address of their own account,
    nothing is removed. The caller has locked the user (`passwords.lock_user`) and read them after
    that. Otherwise two proofs at the same time would both be the first.
    """
    if person.email_proven:
        return person
    suspect = is_suspect(person, caller)
    if suspect and core.wipe_unproven:
        person = _wiped(person, client)
    verification.accept_email(person, client)
    if suspect and not core.wipe_unproven:
        takeover.distrust(person, client)
    return person


def is_suspect(person: Person, caller: Person | None) -> bool:
    """Whether a proof of the current address would be the first, and another person may have
    access."""
    by_another = not verification.is_same(person, caller)
    return by_another and not person.email_proven and was_open(person)


def deny(token: Secret, email: str, client: Client) -> None:
    """Remove everything that was set up on the account: the owner of the mailbox denies the
    sign-up.

    The account stays, unverified and without a password, sessions or number. Raises
    `VerificationTokenExpired`, or `InvalidVerificationToken`, also if the owner of the mailbox has
    proven the address before.
    """
    person, issued = verification.find_link(token, email)
    with transaction.atomic(using=databases.primary()):
        present = verification.lock_owner(person, issued)
        if present.email_proven:
            raise errors.InvalidVerificationToken
        _wiped(present, client)
        rows = Account.objects.filter(pk=present.user.pk)
        rows.update(verified_email_key="")


def was_open(person: Person) -> bool:
    """Whether a client may have access: the account has a password or anything else that the first
    proof of the address removes, or a login is recorded.

    A login alone does not tell: a sign-up with a provider leaves its link also if a hook, a second
    factor or an unverified address stops the login, and a project need not store `last_login`.
    """
    return (
        person.user.has_usable_password()
        or person.last_login_at is not None
        or Session.objects.filter(user=person.user.pk).exists()
        or any(access.is_set_up(person) for access in plugs(AccountAccess))
        or any(factor.is_enabled(person) for factor in plugs(SecondFactor))
        or any(tokens.exist(person) for tokens in plugs(ForeignTokens))
    )


def _wiped(person: Person, client: Client) -> Person:
    events.record("security.session.revoked", person, client, reason=takeover.UNPROVEN)
    takeover.evict(takeover.FIRST_PROOF, person, client)
    passwords.store(person, creation.unusable())
    using = databases.primary()
    message_queue.send(kinds.ACCESS_WIPED, person.email, client, using=using)
    return lookup.get_person(person.user)
