"""Marks addresses as proven, in batches, if they were verified before the service was installed.

Only the project knows which of its old addresses were verified. An address that an attacker signed
up with and never verified must not be marked: its first proof removes the attacker (see
`first_proof`). So every mark names an address, and is made only if this is still the address of the
user once the user's row is locked.

`email_proven_at` stays empty: it is the time of a proof to this service, and would make links and
numbers from before that time suspect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
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
from authservice.kernel.imports import REFUSED
from authservice.kernel.transactions import write_or_split

VERIFIED = "user.email.verified"
REASON = "import"

# Returns, for a user and the stored account, the account that the user will have after a sync: for
# a dry run that follows the dry run of a sync.
Plan = Callable[[Any, Account | None], Account | None]

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


def as_stored(user: Any, account: Account | None) -> Account | None:
    """The plan of a dry run that no sync precedes."""
    return account


def mark(proofs: Sequence[Proof], plan: Plan | None) -> dict[Proof, str]:
    """Mark these addresses as proven; returns the result for each. With a plan nothing is written.
    Runs seven statements for any number of proofs, unless the database refuses a row."""
    results = write_or_split(lambda some: _mark(some, plan), proofs, lambda item: {item: REFUSED})
    return {item: result for outcome in results for item, result in outcome.items()}


def settle(shared: Iterable[Proof], plan: Plan | None) -> dict[Proof, str]:
    """Assign addresses that several users share to the one user who has proven them. With a plan
    nothing is written.

    `shared` has all proofs with the result `SHARED`, of all batches. An address that two users have
    proven, or that another user has verified here, stays with nobody.
    """
    by_key: dict[str, list[Proof]] = {}
    for item in shared:
        by_key.setdefault(item.key, []).append(item)
    single = [group[0] for group in by_key.values() if len(group) == 1]
    if not single:
        return {}
    results = write_or_split(lambda some: _settle(some, plan), single, lambda item: {})
    return {item: result for group in results for item, result in group.items()}


def unproven() -> QuerySet[Any]:
    """Users with a password and an address that is not proven: the first proof removes the
    password."""
    proven = Account.objects.filter(
        user=OuterRef("pk"),
        verified_email_key=F("email_claim"),
        proven_email_key=F("email_claim"),
    )
    return with_password().filter(~Exists(proven))


def is_unproven(account: Account | None) -> bool:
    """Whether `unproven` would return a user of `with_password` who has this account."""
    return account is None or not (
        account.verified_email_key == account.proven_email_key == account.email_claim
    )


def with_password() -> QuerySet[Any]:
    """Active users with a password and an address."""
    host_info = host()
    users = host_info.model._base_manager.using(databases.primary())
    email = host_info.email or "authservice_account__email"
    unusable_prefix = UNUSABLE_PASSWORD_PREFIX
    unusable = Q(password="") | Q(**{"password__startswith": unusable_prefix}) | Q(password=None)
    rows: QuerySet[Any] = users.exclude(unusable).exclude(Q(**{email: ""}) | Q(**{email: None}))
    if host_info.active:
        rows = rows.filter(**{host_info.active: True})
    return rows


def _mark(proofs: Sequence[Proof], plan: Plan | None) -> dict[Proof, str]:
    with transaction.atomic(using=databases.primary()):
        users, accounts = _read({item.user for item in proofs}, plan)
        results = {item: _result(item, users, accounts) for item in proofs}
        if plan is None:
            _store([item for item, result in results.items() if result == MARKED], users)
    return results


def _settle(single: Sequence[Proof], plan: Plan | None) -> dict[Proof, str]:
    with transaction.atomic(using=databases.primary()):
        users, accounts = _read({item.user for item in single}, plan)
        keys = [item.key for item in single]
        rows = Account.objects.filter(Q(email_key__in=keys) | Q(verified_email_key__in=keys))
        holders: list[Account | None] = []
        if plan is None:
            holders += rows
        else:
            holders += [plan(account.user, account) for account in rows.select_related("user")]
        # Keys that an account holds or has verified.
        claimed_keys = {
            key
            for holder in holders
            if holder
            for key in (holder.email_key or "", holder.verified_email_key)
        }
        # The locks of the batches are released, so the user may have another address by now.
        results = {item: _result(item, users, accounts) for item in single}
        free = [item for item in single if item.key not in claimed_keys and results[item] == SHARED]
        if plan is None:
            _store(free, users)
            for item in free:  # one statement for each: such addresses are rare
                owner = Account.objects.filter(pk=item.user, email_claim=item.key, email_key=None)
                owner.update(email_key=item.key)
    return dict.fromkeys(free, MARKED)


def _read(
    keys: set[Any], plan: Plan | None
) -> tuple[Mapping[Any, Any], Mapping[Any, Account | None]]:
    """The users and their accounts, locked in this order; with a plan, the planned accounts."""
    accounts = Account.objects.filter(pk__in=keys).order_by("pk")
    if plan is None:
        passwords.lock_users(keys)
        accounts = accounts.select_for_update()
    users = host().model._base_manager.using(databases.primary()).in_bulk(keys)
    by_user = {account.pk: account for account in accounts}
    if plan is None:
        return users, by_user
    return users, {pk: plan(user, by_user.get(pk)) for pk, user in users.items()}


def _result(item: Proof, users: Mapping[Any, Any], accounts: Mapping[Any, Account | None]) -> str:
    user, account = users.get(item.user), accounts.get(item.user)
    if user is None or account is None:
        return NO_ACCOUNT
    claim = account.email_claim
    current = email_of(user) if host().email else account.email
    if not current or item.key != claim or identifiers.email_key(current) != claim:
        return ELSEWHERE
    if account.proven_email_key == item.key:
        return PRESENT  # also if staff have marked the address as unverified since
    return MARKED if account.email_key == item.key else SHARED


def _store(marked: Sequence[Proof], users: Mapping[Any, Any]) -> None:
    rows = Account.objects.filter(pk__in=[item.user for item in marked])
    # The rows are locked, and their claims are the keys of the proofs.
    rows.update(verified_email_key=F("email_claim"), proven_email_key=F("email_claim"))
    targets = [users[item.user] for item in marked]
    events.record_all_by_staff(VERIFIED, None, targets, Client(), reason=REASON)
