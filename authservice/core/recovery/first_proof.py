"""The first proof of an address revokes all access that was set up before it.

An attacker can sign up with the address of a victim, wait until the victim logs in by a mailed link
or a provider, and keep access. So everything that was set up before the proof is removed.
"""

from __future__ import annotations

from django.contrib.auth.hashers import make_password

from authservice.core.conf import core
from authservice.core.credentials import passwords
from authservice.core.recovery import earlier_access, takeover, verification
from authservice.core.users import lookup
from authservice.core.users.person import Person
from authservice.kernel import databases, events, message_queue
from authservice.kernel.client import Client


def confirm_address(person: Person, client: Client, *, caller: Person | None = None) -> Person:
    """Mark the current address as proven; returns the changed user.

    `caller` is the user of a valid access token in the request: if that user proves the address of
    their own account, nothing is removed. Call it in a transaction that has locked the user
    (`passwords.lock_and_read`) and read them after that. Otherwise two proofs at the same time
    would both be the first.
    """
    if person.email_proven:
        return person
    suspect = is_suspect(person, caller)
    if suspect and core.wipe_unproven:
        person = _wiped(person, client)
    verification.accept_email(person, client)
    if suspect and not core.wipe_unproven:
        earlier_access.distrust(person, client)
    return person


def is_suspect(person: Person, caller: Person | None) -> bool:
    """Whether a proof of the current address would be the first, and another person may have
    access."""
    foreign = not verification.is_same(person, caller)
    return foreign and not person.email_proven and _was_open(person)


def revoke(person: Person, client: Client) -> None:
    """Remove all access: the owner of the mailbox denies the sign-up."""
    _wiped(person, client)


def _was_open(person: Person) -> bool:
    """Whether a client could have logged in: by a password, or in another way."""
    return person.user.has_usable_password() or person.last_login_at is not None


def _wiped(person: Person, client: Client) -> Person:
    events.record("security.session.revoked", person, client, reason=takeover.UNPROVEN)
    takeover.evict(takeover.FIRST_PROOF, person, client)
    passwords.store(person, make_password(None))
    using = databases.primary()
    message_queue.send(message_queue.ACCESS_WIPED, person.email, client, using=using)
    return lookup.get_person(person.user)
