"""Which addresses of existing users count as proven, for `authservice_sync_accounts --verified`.

These are either all addresses of users who joined before the service was installed, or those that a
function of the project returns:

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

from django.db import DatabaseError, connections
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils.module_loading import import_string

from authservice.core.conf import core
from authservice.core.models import Account
from authservice.core.recovery import earlier_proofs
from authservice.core.recovery.earlier_proofs import MARKED, SHARED, Plan, Proof, proof
from authservice.core.users.person import email_of
from authservice.core.users.user_model import host
from authservice.kernel.databases import primary
from authservice.kernel.imports import REFUSED

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


def mark(
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
            results = earlier_proofs.mark(proofs, plan)
            _note(results, marked, plan)
            marked.shared += [item for item, result in results.items() if result == SHARED]
        progress(done := done + len(users), max(done, total))
    _note(earlier_proofs.settle(marked.shared, plan), marked, plan)
    return marked


def count_unproven(marked: Marked, plan: Plan | None, batch_size: int) -> int:
    """How many users still have a password that the first proof of their address will remove, once
    the addresses of this run are marked."""
    if plan is None:
        return earlier_proofs.unproven().count()
    number = 0
    for users in _batches(earlier_proofs.with_password().order_by("pk"), batch_size):
        accounts = _planned(users, plan)
        unproven_users = [user for user in users if earlier_proofs.is_unproven(accounts[user.pk])]
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
    """The same condition as that of the query in `mark`."""
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
        rows, before = earlier_proofs.unproven(), installed_at()
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
