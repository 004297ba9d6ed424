"""The first proof of an address: whoever had access to the account without it has none any more.

Anybody can sign up with a stranger's address and wait until its owner comes, by a mailed link or by
a provider, and takes the account for their own (pre-hijacking: Sudhodanan and Paverd, USENIX
Security 2022). So what was set up before the proof goes, whoever set it up.
"""

from __future__ import annotations

from django.contrib.auth.hashers import make_password

from authservice.core import directory, facts, passwords, sign_ins, tickets, verification
from authservice.core.conf import core
from authservice.core.models import Account
from authservice.core.people import Person
from authservice.kernel import messages
from authservice.kernel.client import Client
from authservice.kernel.events import Event
from authservice.kernel.modules import plugs

UNPROVEN = "unproven"


def prove(person: Person, client: Client, *, caller: Person | None = None) -> Person:
    """The person as they are once their present address counts as proven.

    `caller` is whom a live token of the request speaks for: who is in already and proves the
    address of this very account loses nothing. In a transaction that holds the person
    (`passwords.locked`) and read them after that, or two proofs at once would both be the first.
    """
    if person.email_verified:
        return person
    if core.wipe_unproven and _was_open(person) and not _is(person, caller):
        person = _wiped(person, client)
    verification.accept_email(person, client)
    return person


def _was_open(person: Person) -> bool:
    """Whether anybody can have been in: by a password, or by whatever else."""
    return person.user.has_usable_password() or person.last_login_at is not None


def _is(person: Person, caller: Person | None) -> bool:
    return caller is not None and caller.user.pk == person.user.pk


def _wiped(person: Person, client: Client) -> Person:
    using = directory.database()
    # Before the account: a link that verifies the address takes its ticket first, and a scanner of
    # mail opens it at the same time as the one that led here.
    tickets.end_everything(person)
    for wipe in plugs("wipe"):
        wipe(person)
    # Whoever put in the number could have a code for a new password texted to it.
    number = person.account.phone_number
    Account.objects.using(using).filter(pk=person.user.pk).update(
        phone_number="", phone_key=None, verified_phone_key=""
    )
    passwords.store(person, make_password(None))
    sign_ins.end_everywhere(person, UNPROVEN)
    _tell(person, client, number)
    messages.send(messages.ACCESS_WIPED, person.email, client, using=using)
    return directory.of(person.user)


def _tell(person: Person, client: Client, number: str) -> None:
    revoked = Event(
        action="security.session.revoked",
        user=person.user,
        client=client,
        metadata={"reason": UNPROVEN},
    )
    facts.tell(revoked)
    if number:
        change = {"phone_number": {"before": number, "after": ""}}
        event = Event(action="user.phone.changed", user=person.user, client=client, metadata=change)
        facts.tell(event)
