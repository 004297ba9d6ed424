"""Addresses of existing users that were verified before the service was installed: which of them
count as proven, and how they are marked as proven, in batches.

Only the project knows which of its old addresses were verified. An address that an attacker signed
up with and never verified must not be marked: its first proof removes the attacker (see
`first_proof`). So every mark names an address, and is made only if this is still the address of the
user once the user's row is locked.

`email_proven_at` stays empty: it is the time of a proof to this service, and would make links and
numbers from before that time suspect.

For `authservice_sync_accounts --verified` these are either all addresses of users who joined before
the service was installed, or those that a function of the project returns:

    def verified(users: Sequence[User]) -> Iterable[tuple[Any, str]]:
        rows = EmailAddress.objects.filter(user__in=users, verified=True)
        return rows.values_list("user_id", "email")

The function is called once for each batch of users whose address is not proven, and returns pairs
of a user's primary key and a proven address. A pair whose address is not the user's current one is
ignored, and so are users who are not in the batch.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.db import DatabaseError, connections, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils.module_loading import import_string

from authservice.core.conf import core
from authservice.core.credentials import passwords
from authservice.core.models import Account
from authservice.core.users import identifiers
from authservice.core.users.person import email_of
from authservice.core.users.user_model import host
from authservice.kernel import databases, events
from authservice.kernel.client import Client
from authservice.kernel.databases import primary, write_or_split
from authservice.kernel.imports import REFUSED

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


Choice = Callable[[Sequence[Any]], Iterable[tuple[Any, str]]]

ALL, NONE = "all", "none"


class CannotChoose(Exception):
    """The choice is not valid; the text says what to change, for the operator."""


@dataclass
class Marked:
    """How many addresses were marked as proven. `later` is the number of users whom `all` leaves
    out because they joined after the service was installed. In a dry run, `users` has the primary
    keys of the users whose address would be marked."""

    number: int = 0
    later: int = 0
    users: set[Any] = field(default_factory=set)
    shared: list[Proof] = field(default_factory=list)
    # Primary keys of users whose account row the database refuses to change.
    refused: list[Any] = field(default_factory=list)


@dataclass(frozen=True)
class Chosen:
    """Users whose addresses may be proven (`rows`), and the function that returns the proven ones
    (`function`). `later` are users who joined too late for `all`."""

    rows: QuerySet[Any]
    function: Choice
    later: QuerySet[Any] | None = None


def choose(named: str, joined_before: datetime | None) -> Chosen | None:
    """What `--verified` says: "all", "none" or a dotted path. Raises `CannotChoose`."""
    if joined_before and named != ALL:
        raise CannotChoose("--joined-before needs --verified all.")
    if named == NONE:
        return None
    if named == ALL:
        return _everybody(joined_before)
    try:
        function: Any = import_string(named)
    except (ImportError, TypeError, ValueError) as error:  # the last two for names such as ".."
        raise CannotChoose(f"--verified {named!r} cannot be imported: {error}") from error
    if not callable(function) or inspect.iscoroutinefunction(function):
        raise CannotChoose(f"--verified {named!r} must be a function, and not an async one.")
    return Chosen(_rows(), function)


def mark_chosen(
    chosen: Chosen | None,
    *,
    batch_size: int,
    plan: Plan | None,
    progress: Callable[[int, int], None],
) -> Marked:
    """Mark the chosen addresses as proven. A plan is given in a dry run, and then nothing is
    written. Raises `CannotChoose` if the function of the project does not return pairs."""
    marked = Marked()
    if chosen is None:
        return marked
    rows = chosen.rows
    # Leave out users whose address is proven. With a plan the stored rows cannot decide this: the
    # planned sync changes which addresses are proven.
    if not plan:
        proven = Account.objects.filter(user=OuterRef("pk"), proven_email_key=F("email_claim"))
        rows = rows.filter(~Exists(proven.exclude(email_claim="")))
    total, done = rows.count(), 0
    marked.later = chosen.later.count() if chosen.later is not None else 0
    for users in _batches(rows, batch_size):
        unproven_users = users
        if plan:  # keep those whose address is not proven once the plan is carried out
            accounts = _planned(users, plan)
            unproven_users = [user for user in users if not _is_proven(accounts[user.pk])]
        if unproven_users:
            unproven_keys = {user.pk for user in unproven_users}
            proofs = [
                item
                for item in _proofs(chosen.function, unproven_users)
                if item.user in unproven_keys
            ]
            results = mark(proofs, plan)
            _note(results, marked, plan)
            marked.shared += [item for item, result in results.items() if result == SHARED]
        progress(done := done + len(users), max(done, total))
    _note(settle(marked.shared, plan), marked, plan)
    return marked


def count_unproven(marked: Marked, plan: Plan | None, batch_size: int) -> int:
    """How many users still have a password that the first proof of their address will remove, once
    the addresses of this run are marked."""
    if plan is None:
        return unproven().count()
    number = 0
    for users in _batches(with_password().order_by("pk"), batch_size):
        accounts = _planned(users, plan)
        unproven_users = [user for user in users if is_unproven(accounts[user.pk])]
        number += sum(user.pk not in marked.users for user in unproven_users)
    return number


def installed_at() -> datetime | None:
    """When the tables of the service were created; None if Django has no record of it."""
    recorded = MigrationRecorder(connections[primary()])
    if not recorded.has_table():
        return None
    rows = recorded.migration_qs.filter(app=Account._meta.app_label).order_by("applied")
    moment: datetime | None = rows.values_list("applied", flat=True).first()
    return moment


def _note(results: Mapping[Proof, str], marked: Marked, plan: Plan | None) -> None:
    marked.refused += [item.user for item, result in results.items() if result == REFUSED]
    users = [item.user for item, result in results.items() if result == MARKED]
    marked.number += len(users)
    if plan:
        marked.users.update(users)


def _planned(users: list[Any], plan: Plan) -> dict[Any, Account | None]:
    accounts = Account.objects.in_bulk([user.pk for user in users])
    return {user.pk: plan(user, accounts.get(user.pk)) for user in users}


def _is_proven(account: Account | None) -> bool:
    """The same condition as that of the query in `mark_chosen`."""
    return bool(account and account.email_claim and account.proven_email_key == account.email_claim)


def _proofs(function: Choice, users: list[Any]) -> Iterator[Proof]:
    try:
        # Without duplicates: the function may return a pair twice.
        yield from dict.fromkeys(proof(user, email) for user, email in function(users))
    except (TypeError, ValueError, AttributeError) as error:
        raise CannotChoose(
            "The function of --verified must take a list of users and return pairs of a user's"
            f" primary key and an address. {type(error).__name__}: {error}"
        ) from error


def _everybody(joined_before: datetime | None) -> Chosen:
    """Users who joined before the service was installed. Later users signed up through the service,
    which knows whether their address is verified. An unverified one must not be marked: an attacker
    may have signed up with the address of another person."""
    joined = host().joined
    if not joined:
        raise CannotChoose(
            "The user model has no `date_joined`, so it is unknown who joined before the service"
            " was installed. Name the proven addresses with a function:"
            " --verified DOTTED.PATH."
        )
    before = joined_before or installed_at()
    if before is None:
        raise CannotChoose(
            "Django has no record of when the service was installed. Give the time with"
            " --joined-before."
        )
    verified = Account.objects.filter(user=OuterRef("pk"))
    verified = verified.exclude(verified_email_key="", proven_email_key="")
    rows = _rows().filter(~Exists(verified))
    return Chosen(
        rows.filter(**{f"{joined}__lt": before}),
        _own_addresses,
        later=rows.filter(**{f"{joined}__gte": before}),
    )


def _own_addresses(users: Sequence[Any]) -> Iterator[tuple[Any, str]]:
    for user in users:
        yield user.pk, email_of(user)


def _rows() -> QuerySet[Any]:
    """Users who have an address."""
    host_info = host()
    users = host_info.model._base_manager.using(primary()).order_by("pk")
    email = host_info.email or "authservice_account__email"
    rows: QuerySet[Any] = users.exclude(Q(**{email: ""}) | Q(**{email: None}))
    return rows


def is_any_at_risk(databases: Sequence[str] | None) -> bool:
    """Whether a user from before the service was installed has a password that the first proof of
    the address will remove. `databases` are those that a system check may query."""
    if not core.wipe_unproven or primary() not in (databases or ()):
        return False
    try:
        rows, before = unproven(), installed_at()
        if host().joined and before:
            rows = rows.filter(**{f"{host().joined}__lt": before})
        return rows.exists()
    except DatabaseError:
        return False  # the tables do not exist yet: the check runs before the first `migrate` too


def _batches(rows: QuerySet[Any], size: int) -> Iterator[list[Any]]:
    last = None
    while batch := list((rows.filter(pk__gt=last.pk) if last else rows)[:size]):
        yield batch
        last = batch[-1]
