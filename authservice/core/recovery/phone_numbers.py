"""Who has a phone number: the account that has verified it, and no other one.

Until somebody verifies a number, any number of accounts may have it: otherwise anybody could block
a number for its owner by entering it. The account that verifies it first keeps it. The others lose
it in the same transaction, and their owners are notified.

An attacker may enter a number in any number of accounts, so only `_AT_ONCE` of them, the oldest,
lose it: the request of the owner must not take longer for each. The others still show the number,
but they can neither verify it nor get a code for it, and it resets no password.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from authservice.core import errors
from authservice.core.credentials import passwords
from authservice.core.messages import kinds
from authservice.core.models import Account, PhoneSource
from authservice.core.users import identifiers
from authservice.core.users.person import Person
from authservice.kernel import databases, events, message_queue
from authservice.kernel.client import Client

_AT_ONCE = 100
# The fields of an account without a number.
NO_NUMBER: Mapping[str, object] = {
    "phone_number": "",
    "phone_key": None,
    "verified_phone_key": None,
    "phone_set_by": PhoneSource.SIGNUP,
    "phone_added_at": None,
    "phone_verified_at": None,
}


def is_taken(person: Person, key: str | None) -> bool:
    """Whether another account has verified the number with this key."""
    rows = Account.objects.filter(verified_phone_key=key).exclude(pk=person.user.pk)
    return key is not None and rows.exists()


def is_shared(person: Person) -> bool:
    """Whether other accounts have the number of this account too."""
    key = person.phone_key
    return bool(key) and Account.objects.filter(phone_key=key).exclude(pk=person.user.pk).exists()


def require_free(person: Person, number: str) -> None:
    """Raises `PhoneAlreadyInUse` if another account has verified the number."""
    if number and is_taken(person, identifiers.phone_key(number)):
        raise errors.PhoneAlreadyInUse


def users_with(number: str) -> list[Any]:
    """The primary keys of the users whose accounts have the number. A transaction that gives the
    number to another account locks these users, so it waits for a verification that has begun."""
    rows = Account.objects.filter(phone_key=identifiers.phone_key(number)).order_by("pk")
    # One more than can lose the number: the account that gets it may be among them.
    return list(rows.values_list("pk", flat=True)[: _AT_ONCE + 1]) if number else []


def lock(person: Person, key: str | None) -> None:
    """Lock the user and those who lose the number, in the lock order. Call it first in the
    transaction that verifies the number, so that concurrent verifications are serialized."""
    users = _losers(person, key).values_list("pk", flat=True) if key else ()
    passwords.lock_users({person.user.pk, *users})


@databases.inside_transaction
def take(person: Person, key: str, client: Client) -> None:
    """Take the number, which this account has verified, from the other accounts. Call it after the
    verified key was stored, with the rows of `lock` or of `users_with` locked."""
    for account in _losers(person, key).select_related("user"):
        loser = Person(account.user, account)
        Account.objects.filter(pk=account.pk, phone_key=key).update(**NO_NUMBER)
        change = {"before": account.phone_number, "after": ""}
        # The entry and the mail name neither the new owner of the number nor the client of this
        # request: the user who loses the number must not see them.
        events.record("user.phone.changed", loser, Client(), phone_number=change)
        if loser.email_proven:
            message_queue.send(
                kinds.PHONE_LOST,
                loser.email,
                Client(request_id=client.request_id),
                using=databases.primary(),
            )


def store_verified(person: Person, key: str, **fields: Any) -> bool:
    """Store that the account has verified the number. False, and nothing is stored, if the account
    has another number by now or another account has verified this one."""
    rows = Account.objects.filter(pk=person.user.pk, phone_key=key)
    try:
        with transaction.atomic(using=databases.primary()):
            return bool(rows.update(verified_phone_key=key, **fields))
    except IntegrityError:
        return False


def _losers(person: Person, key: str) -> QuerySet[Account]:
    rows = Account.objects.filter(phone_key=key).exclude(pk=person.user.pk)
    return rows.order_by("pk")[:_AT_ONCE]
