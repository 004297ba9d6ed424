"""Marks addresses as proven that were verified before the service was installed, in batches.

Only the project knows which of its old addresses were verified. An address that an attacker signed
up with and never verified must not be marked: its first proof is what removes the attacker (see
`first_proof`). So every mark names an address, and it counts only if that is still the address of
the user when the user's row is locked.

`email_proven_at` stays empty: it is the time of a proof here, which would make links and numbers
from before the proof suspect.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from authservice.core.credentials import passwords
from authservice.core.models import Account
from authservice.core.users import identifiers
from authservice.core.users.person import email_of
from authservice.core.users.user_model import host
from authservice.kernel import databases, events
from authservice.kernel.client import Client
from authservice.kernel.retries import retry_on_deadlock

VERIFIED = "user.email.verified"
REASON = "import"

# The results for one address.
MARKED = "marked"
PRESENT = "already proven"
ELSEWHERE = "it is not the current address of the user"
SHARED = "several users share the address"
NO_ACCOUNT = "the user has no account: run authservice_sync_accounts first"


@dataclass(frozen=True)
class Proof:
    """An address that its user has proven in the project: the user's primary key, and the key of
    the address."""

    user: Any
    key: str


def proof(user: Any, email: str) -> Proof:
    return Proof(user, identifiers.email_key(email))


def mark(proofs: Sequence[Proof], *, dry_run: bool) -> dict[Proof, str]:
    """Mark these addresses as proven; returns the result for each. Runs seven statements, whatever
    their number."""
    result: dict[Proof, str] = retry_on_deadlock(lambda: _mark(proofs, dry_run=dry_run))
    return result


def settle(shared: Iterable[Proof], *, dry_run: bool) -> dict[Proof, str]:
    """Assign addresses that several users share to the one user who has proven them.

    `shared` has all proofs with the result `SHARED`, of all batches. An address that two users have
    proven, or that another user has verified here, stays with nobody.
    """
    by_key: dict[str, list[Proof]] = {}
    for one in shared:
        by_key.setdefault(one.key, []).append(one)
    single = [found[0] for found in by_key.values() if len(found) == 1]
    return retry_on_deadlock(lambda: _settle(single, dry_run=dry_run)) if single else {}


def unproven() -> QuerySet[Any]:
    """Users with a password and an address that is not proven: the first proof removes the
    password."""
    known = host()
    users = known.model._base_manager.using(databases.primary())
    proven = Account.objects.filter(
        user=OuterRef("pk"),
        verified_email_key=F("email_claim"),
        proven_email_key=F("email_claim"),
    )
    email = known.email or "authservice_account__email"
    none = UNUSABLE_PASSWORD_PREFIX
    unusable = Q(password="") | Q(**{"password__startswith": none}) | Q(password=None)
    rows: QuerySet[Any] = users.exclude(unusable).exclude(Q(**{email: ""}) | Q(**{email: None}))
    if known.active:
        rows = rows.filter(**{known.active: True})
    return rows.filter(~Exists(proven))


def _mark(proofs: Sequence[Proof], *, dry_run: bool) -> dict[Proof, str]:
    with transaction.atomic(using=databases.primary()):
        users, accounts = _read({one.user for one in proofs}, lock=not dry_run)
        results = {one: _result(one, users, accounts, dry_run=dry_run) for one in proofs}
        if not dry_run:
            _store([one for one, result in results.items() if result == MARKED], users)
    return results


def _settle(single: Sequence[Proof], *, dry_run: bool) -> dict[Proof, str]:
    with transaction.atomic(using=databases.primary()):
        users, accounts = _read({one.user for one in single}, lock=not dry_run)
        keys = {one.key for one in single}
        held = Account.objects.filter(email_key__in=keys)
        verified = Account.objects.filter(verified_email_key__in=keys)
        taken = {*held.values_list("email_key", flat=True)}
        taken |= {*verified.values_list("verified_email_key", flat=True)}
        # The batches have ended, so the user may have another address by now.
        results = {one: _result(one, users, accounts, dry_run=dry_run) for one in single}
        free = [one for one in single if one.key not in taken and results[one] == SHARED]
        if not dry_run:
            _store(free, users)
            for one in free:  # a constant for each user, and such addresses are rare
                rows = Account.objects.filter(pk=one.user, email_claim=one.key, email_key=None)
                rows.update(email_key=one.key)
    return dict.fromkeys(free, MARKED)


def _read(keys: set[Any], *, lock: bool) -> tuple[Mapping[Any, Any], Mapping[Any, Account]]:
    """The users and their accounts, locked in this order."""
    using = databases.primary()
    accounts = Account.objects.filter(pk__in=keys).order_by("pk")
    if lock:
        passwords.lock_users(keys)
        accounts = accounts.select_for_update()
    users = host().model._base_manager.using(using).in_bulk(keys)
    return users, {account.pk: account for account in accounts}


def _result(
    one: Proof, users: Mapping[Any, Any], accounts: Mapping[Any, Account], *, dry_run: bool
) -> str:
    user, account = users.get(one.user), accounts.get(one.user)
    if user is None or (account is None and not dry_run):
        return NO_ACCOUNT
    # The sync that precedes a run creates the account, but a dry run of it writes nothing.
    claim = account.email_claim if account else identifiers.email_key(email_of(user))
    current = email_of(user) if host().email else (account.email if account else "")
    if not current or one.key != claim or identifiers.email_key(current) != claim:
        return ELSEWHERE
    if account is None:
        return MARKED
    if account.proven_email_key == one.key:
        return PRESENT  # also if staff have marked the address as unverified since
    return MARKED if account.email_key == one.key else SHARED


def _store(marked: Sequence[Proof], users: Mapping[Any, Any]) -> None:
    rows = Account.objects.filter(pk__in=[one.user for one in marked])
    # The rows are locked, and their claims are the keys of the proofs.
    rows.update(verified_email_key=F("email_claim"), proven_email_key=F("email_claim"))
    targets = [users[one.user] for one in marked]
    events.record_all_by_staff(VERIFIED, None, targets, Client(), reason=REASON)
