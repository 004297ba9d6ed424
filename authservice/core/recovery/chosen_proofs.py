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
from collections.abc import Callable, Iterable, Iterator, Sequence
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
from authservice.core.recovery.earlier_proofs import MARKED, SHARED, Proof, proof
from authservice.core.users.person import email_of
from authservice.core.users.user_model import host
from authservice.kernel.databases import primary

Choice = Callable[[Sequence[Any]], Iterable[tuple[Any, str]]]

ALL, NONE = "all", "none"


class CannotChoose(Exception):
    """The choice is not valid; the text says what to change, for the operator."""


@dataclass
class Marked:
    """How many addresses were marked as proven. `later` is the number of users who joined since the
    service was installed, and whom `all` leaves out."""

    number: int = 0
    later: int = 0
    shared: list[Proof] = field(default_factory=list)


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
    dry_run: bool,
    progress: Callable[[int, int], None],
) -> Marked:
    """Mark the chosen addresses as proven. Raises `CannotChoose` if the function of the project
    returns something else."""
    marked = Marked()
    if chosen is None:
        return marked
    total, done = chosen.rows.count(), 0
    marked.later = chosen.later.count() if chosen.later is not None else 0
    for users in _batches(chosen.rows, batch_size):
        _mark_batch(users, chosen.named, marked, dry_run=dry_run)
        progress(done := done + len(users), max(done, total))
    marked.number += len(earlier_proofs.settle(marked.shared, dry_run=dry_run))
    return marked


def installed_at() -> datetime | None:
    """When the tables of the service were created; None if Django has no record of it."""
    recorded = MigrationRecorder(connections[primary()])
    if not recorded.has_table():
        return None
    rows = recorded.migration_qs.filter(app=Account._meta.app_label).order_by("applied")
    moment: datetime | None = rows.values_list("applied", flat=True).first()
    return moment


def _mark_batch(users: list[Any], named: Choice, marked: Marked, *, dry_run: bool) -> None:
    known = {user.pk for user in users}
    proofs = [one for one in _proofs(named, users) if one.user in known]
    for one, result in earlier_proofs.mark(proofs, dry_run=dry_run).items():
        marked.number += result == MARKED
        if result == SHARED:
            marked.shared.append(one)


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
    """Users who have an address that is not proven."""
    known = host()
    users = known.model._base_manager.using(primary()).order_by("pk")
    proven = Account.objects.filter(user=OuterRef("pk"), proven_email_key=F("email_claim"))
    email = known.email or "authservice_account__email"
    rows: QuerySet[Any] = users.exclude(Q(**{email: ""}) | Q(**{email: None}))
    return rows.filter(~Exists(proven.exclude(email_claim="")))


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
