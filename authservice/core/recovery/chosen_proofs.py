"""Which addresses of existing users count as proven, for `authservice_sync_accounts --verified`.

Either all addresses of users who joined before the service was installed, or those that a function
of the project names:

    def verified(users: Sequence[User]) -> Iterable[tuple[Any, str]]:
        rows = EmailAddress.objects.filter(user__in=users, verified=True)
        return rows.values_list("user_id", "email")

It is called once for each batch of users whose address is not proven, and returns pairs of a user's
primary key and a proven address. A pair whose address is not the user's current one is ignored, and
so are users who are not in the batch.
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
    """How many addresses were marked as proven. `later` is the number of users who joined since the
    service was installed, and whom `all` leaves out. In a dry run, `users` has the primary
    keys of the users whose address would be marked."""

    number: int = 0
    later: int = 0
    users: set[Any] = field(default_factory=set)
    shared: list[Proof] = field(default_factory=list)
    # Primary keys of users whose row of the account the database refuses to change.
    refused: list[Any] = field(default_factory=list)


@dataclass(frozen=True)
class Chosen:
    """Users whose addresses may be proven, and the function that names those that are. `later` are
    users who joined too late for `all`."""

    rows: QuerySet[Any]
    named: Choice
    later: QuerySet[Any] | None = None


def choose(named: str, joined_before: datetime | None) -> Chosen | None:
    """What `--verified` says: "all", "none" or a dotted path. Raises `CannotChoose`."""
    if joined_before and named != ALL:
        raise CannotChoose("--joined-before needs --verified all.")
    if named == NONE:
        return None
    return _everybody(joined_before) if named == ALL else Chosen(_rows(), _imported(named))


def mark(
    chosen: Chosen | None,
    *,
    batch_size: int,
    plan: Plan | None,
    progress: Callable[[int, int], None],
) -> Marked:
    """Mark the chosen addresses as proven. With a plan, which is that of a dry run, nothing is
    written. Raises `CannotChoose` if the function of the project returns something else."""
    marked = Marked()
    if chosen is None:
        return marked
    # What is stored may be outdated, and then the sync changes which addresses are proven.
    rows = chosen.rows if plan else chosen.rows.filter(~_proven())
    total, done = rows.count(), 0
    marked.later = chosen.later.count() if chosen.later is not None else 0
    for users in _batches(rows, batch_size):
        _mark_batch(_due(users, plan) if plan else users, chosen.named, marked, plan)
        progress(done := done + len(users), max(done, total))
    _note(earlier_proofs.settle(marked.shared, plan), marked, plan)
    return marked


def count_unproven(marked: Marked, plan: Plan | None, batch_size: int) -> int:
    """How many users have a password that the first proof of their address removes, after the marks
    of this run."""
    if plan is None:
        return earlier_proofs.unproven().count()
    number = 0
    for users in _batches(earlier_proofs.with_password().order_by("pk"), batch_size):
        found = _planned(users, plan)
        left = [user for user in users if earlier_proofs.is_unproven(found[user.pk])]
        number += sum(user.pk not in marked.users for user in left)
    return number


def installed_at() -> datetime | None:
    """When the tables of the service were created; None if Django has no record of it."""
    recorded = MigrationRecorder(connections[primary()])
    if not recorded.has_table():
        return None
    rows = recorded.migration_qs.filter(app=Account._meta.app_label).order_by("applied")
    moment: datetime | None = rows.values_list("applied", flat=True).first()
    return moment


def _mark_batch(users: list[Any], named: Choice, marked: Marked, plan: Plan | None) -> None:
    if not users:
        return
    known = {user.pk for user in users}
    proofs = [one for one in _proofs(named, users) if one.user in known]
    results = earlier_proofs.mark(proofs, plan)
    _note(results, marked, plan)
    marked.shared += [one for one, result in results.items() if result == SHARED]


def _note(results: Mapping[Proof, str], marked: Marked, plan: Plan | None) -> None:
    marked.refused += [one.user for one, result in results.items() if result == REFUSED]
    users = [one.user for one, result in results.items() if result == MARKED]
    marked.number += len(users)
    if plan:
        marked.users.update(users)


def _due(users: list[Any], plan: Plan) -> list[Any]:
    """The users whose address is not proven once the plan is carried out."""
    found = _planned(users, plan)
    return [user for user in users if not _is_proven(found[user.pk])]


def _planned(users: list[Any], plan: Plan) -> dict[Any, Account | None]:
    accounts = Account.objects.in_bulk([user.pk for user in users])
    return {user.pk: plan(user, accounts.get(user.pk)) for user in users}


def _is_proven(account: Account | None) -> bool:
    """As `_proven` asks the database."""
    return bool(account and account.email_claim and account.proven_email_key == account.email_claim)


def _proofs(named: Choice, users: list[Any]) -> Iterator[Proof]:
    try:
        # Each once: the function may return a pair twice.
        yield from dict.fromkeys(proof(user, email) for user, email in named(users))
    except (TypeError, ValueError, AttributeError) as wrong:
        raise CannotChoose(
            "The function of --verified must take a list of users and return pairs of a user's"
            f" primary key and an address. {type(wrong).__name__}: {wrong}"
        ) from wrong


def _everybody(joined_before: datetime | None) -> Chosen:
    """Users from before the service was installed. Later ones have signed up here, where every
    verified address is known: an attacker may have signed up with the address of another person."""
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
    known = Account.objects.filter(user=OuterRef("pk"))
    known = known.exclude(verified_email_key="", proven_email_key="")
    rows = _rows().filter(~Exists(known))
    return Chosen(
        rows.filter(**{f"{joined}__lt": before}),
        _own_addresses,
        later=rows.filter(**{f"{joined}__gte": before}),
    )


def _own_addresses(users: Sequence[Any]) -> Iterator[tuple[Any, str]]:
    for user in users:
        yield user.pk, email_of(user)


def _imported(path: str) -> Choice:
    try:
        named: Any = import_string(path)
    except (ImportError, TypeError, ValueError) as wrong:  # the last two for names such as ".."
        raise CannotChoose(f"--verified {path!r} cannot be imported: {wrong}") from wrong
    if not callable(named) or inspect.iscoroutinefunction(named):
        raise CannotChoose(f"--verified {path!r} must be a function, and not an async one.")
    return named  # type: ignore[no-any-return]


def _rows() -> QuerySet[Any]:
    """Users who have an address."""
    known = host()
    users = known.model._base_manager.using(primary()).order_by("pk")
    email = known.email or "authservice_account__email"
    rows: QuerySet[Any] = users.exclude(Q(**{email: ""}) | Q(**{email: None}))
    return rows


def _proven() -> Exists:
    """Whether the address of a user of `_rows` is proven."""
    proven = Account.objects.filter(user=OuterRef("pk"), proven_email_key=F("email_claim"))
    return Exists(proven.exclude(email_claim=""))


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
