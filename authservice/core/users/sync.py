"""Synchronises the accounts with the host's whole user table: creates missing accounts, updates
copies and keys.

An address that several users share is ambiguous. No user can log in with it unless one of them has
verified it; the others log in with their username. The table is read three times in primary-key
order, in batches: to find contested identifiers, to release outdated keys, and to write. Only rows
that need a change are locked, for one batch at a time, and they are read again under the lock.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from django.contrib.auth.hashers import identify_hasher, is_password_usable
from django.db import DatabaseError, connections, transaction

from authservice.core.models import Account
from authservice.core.users import identifiers, lookup
from authservice.core.users.identifiers import EMAIL, USERNAME
from authservice.core.users.person import (
    COPIES,
    copies,
    create_account,
    email_of,
    unsaved_account,
    username_of,
)
from authservice.core.users.user_model import host
from authservice.kernel import databases

logger = logging.getLogger("authservice.accounts")

KEYS = (EMAIL.unique, USERNAME.unique)
MOST_NAMED = 10
# What a password hasher calls its parameters of cost.
_COSTS = ("iterations", "work_factor", "time_cost", "memory_cost", "parallelism", "block_size")

Progress: TypeAlias = Callable[[int, int], None]
Copied: TypeAlias = dict[str, Any]
# An account, and the values that it must copy.
Changed: TypeAlias = tuple[Account, Copied]


@dataclass
class Contested:
    """An identifier that several users claim, and the first `MOST_NAMED` of these users: their
    primary keys and usernames."""

    kind: str
    text: str
    users: int = 0
    named: list[tuple[Any, str]] = field(default_factory=list)


@dataclass
class Hasher:
    """A password hasher in use: the number of passwords, and the seconds that one check takes."""

    name: str
    users: int
    sample: str
    seconds: float = 0.0


@dataclass
class Report:
    users: int = 0
    created: int = 0
    updated: int = 0
    contested: dict[str, Contested] = field(default_factory=dict)
    hashers: dict[str, Hasher] = field(default_factory=dict)
    # Users whose address a new account must not have; at most `MOST_NAMED` of them are listed.
    odd_emails: int = 0
    with_odd_email: list[Any] = field(default_factory=list)
    # Users whose username no login can name, and the first `MOST_NAMED` of them.
    odd_names: int = 0
    with_odd_name: list[Any] = field(default_factory=list)
    # Users whose password no configured hasher can check, and the first `MOST_NAMED` of them.
    unreadable: int = 0
    with_unreadable: list[Any] = field(default_factory=list)
    # Users whose account the database refuses, and the first `MOST_NAMED` of them.
    refused: int = 0
    with_refused: list[Any] = field(default_factory=list)
    # Half of each key as an integer, so that a million users fit into little memory.
    seen: set[int] = field(default_factory=set, repr=False)
    shared: set[int] = field(default_factory=set, repr=False)

    def is_contested(self, key: str | None) -> bool:
        return key is not None and _half(key) in self.shared

    @property
    def slowest(self) -> Hasher | None:
        return max(self.hashers.values(), key=lambda hasher: hasher.seconds, default=None)


def sync(*, batch_size: int, dry_run: bool, progress: Progress) -> Report:
    """Create missing accounts, update the others and report. With `dry_run` nothing is written."""
    report = Report()
    total = _users().count()
    steps = total * (2 if dry_run else 3)
    done = 0
    for users in _batches(batch_size):
        for user in users:
            _survey(user, report)
        progress(done := done + len(users), steps)
    report.seen.clear()
    for hasher in report.hashers.values():
        started = time.perf_counter()
        identify_hasher(hasher.sample).verify("no password", hasher.sample)
        hasher.seconds = time.perf_counter() - started
    for write in (False,) if dry_run else (False, True):
        for users in _batches(batch_size):
            _sync_batch(users, report, write=write, dry_run=dry_run)
            progress(done := done + len(users), steps)
    return report


def planned(report: Report, user: Any, account: Account | None) -> Account:
    """The account of this user as the run of this report leaves it. A dry run has written nothing,
    so `account` is as it was before."""
    copied = copies(user)
    _drop_contested(copied, account, report)
    if account is None:
        return unsaved_account(user, copied)
    for name, value in copied.items():
        setattr(account, name, value)
    return account


def _users() -> Any:
    return host().model._base_manager.using(databases.primary())


def _batches(size: int) -> Iterator[list[Any]]:
    rows, last = _users().order_by("pk"), None
    while batch := list((rows.filter(pk__gt=last.pk) if last else rows)[:size]):
        yield batch
        last = batch[-1]


def _survey(user: Any, report: Report) -> None:
    """Count what the report says of this user, and note which keys several users have."""
    report.users += 1
    copied = copies(user)
    for half in [_half(copied[name]) for name in KEYS if copied.get(name)]:
        (report.shared if half in report.seen else report.seen).add(half)

    email, username = email_of(user), username_of(user)
    if email and not identifiers.is_new_email(email):
        report.odd_emails += 1
        if len(report.with_odd_email) < MOST_NAMED:
            report.with_odd_email.append(user.pk)
    if username and not identifiers.can_be_typed(username):
        report.odd_names += 1
        if len(report.with_odd_name) < MOST_NAMED:
            report.with_odd_name.append(user.pk)

    encoded = user.password
    if not encoded or not is_password_usable(encoded):
        return
    try:
        hasher = identify_hasher(encoded)
        cost = hasher.decode(encoded)
    except NotImplementedError:
        cost = {}  # Django's base class raises it for hashers that do not implement `decode`
    except (ValueError, KeyError, AssertionError):
        report.unreadable += 1
        if len(report.with_unreadable) < MOST_NAMED:
            report.with_unreadable.append(user.pk)
        return
    work = [f"{k}={v}" for k, v in sorted(cost.items()) if k in _COSTS]
    name = " ".join([str(hasher.algorithm), *work])
    report.hashers.setdefault(name, Hasher(name, 0, encoded)).users += 1


def _half(key: str) -> int:
    """Half of a key, as `Report.seen` has it."""
    return int(key[:32], 16)


def _sync_batch(users: list[Any], report: Report, *, write: bool, dry_run: bool) -> None:
    """Compare a batch of users with their accounts. The first pass reports the differences and,
    unless it is a dry run, releases the keys that move. The second pass (`write`) writes the
    accounts."""
    copied_by_user = [(user, copies(user)) for user in users]
    if not write:
        for user, copied in copied_by_user:
            _list_contested(user, copied, report)
    new, changed = _compare(
        copied_by_user, Account.objects.in_bulk([user.pk for user in users]), report
    )
    if dry_run or write:
        report.created += len(new)
    if not write:
        # A key may move from one user to another, and keys are unique: the first pass releases all
        # keys that move, before the second pass writes any.
        report.updated += len(changed)
        if not dry_run and changed:
            # No report here: the second pass refuses and reports the same rows.
            databases.write_or_split(_release, changed, lambda _: None)
        return
    outdated = [account.pk for account in (*new, *(account for account, _ in changed))]
    if outdated:
        # Counted after the commit: a deadlock repeats the transaction.
        refused = databases.retry_on_deadlock(partial(_write, outdated, report))
        report.refused += len(refused)
        report.with_refused += refused[: MOST_NAMED - len(report.with_refused)]


def _list_contested(user: Any, copied: dict[str, Any], report: Report) -> None:
    for kind, text in ((EMAIL, email_of(user)), (USERNAME, username_of(user))):
        key = copied.get(kind.unique)
        if key and report.is_contested(key):
            contested = report.contested.setdefault(key, Contested(kind.text, text))
            contested.users += 1
            if len(contested.named) < MOST_NAMED:
                contested.named.append((user.pk, username_of(user)))


def _compare(
    copied_by_user: Iterable[tuple[Any, Copied]], accounts: Mapping[Any, Account], report: Report
) -> tuple[list[Account], list[Changed]]:
    """The accounts to create, and those that differ from the host's rows."""
    new, changed = [], []
    for user, copied in copied_by_user:
        account = accounts.get(user.pk)
        _drop_contested(copied, account, report)
        if account is None:
            new.append(unsaved_account(user, copied))
        elif any(getattr(account, name) != value for name, value in copied.items()):
            changed.append((account, copied))
    return new, changed


def _drop_contested(copied: dict[str, Any], account: Account | None, report: Report) -> None:
    """Replace keys that several users claim by None, but not the key of a verified address."""
    for name in KEYS:
        key = copied.get(name)
        verified = account and name == EMAIL.unique and account.verified_email_key == key
        if report.is_contested(key) and not verified:
            copied[name] = None


def _release(changed: Sequence[Changed]) -> None:
    """Release the keys that move. A key that does not move stays, so that its user can log in with
    it during the run, and after a run that was aborted."""
    with transaction.atomic(using=databases.primary()):
        for name in KEYS:
            current_keys = [
                (account.pk, getattr(account, name), copied) for account, copied in changed
            ]
            moving = {
                pk: key for pk, key, copied in current_keys if key and copied.get(name, key) != key
            }
            # The user may have changed the identifier since the batch was read: it has a new key.
            rows = Account.objects.filter(pk__in=moving.keys())
            rows.filter(**{f"{name}__in": moving.values()}).update(**{name: None})


def _write(outdated: list[Any], report: Report) -> list[Any]:
    """Write the accounts of these users; returns the keys of those whom the database refuses.

    A user may have changed an identifier or have been deleted since the batch was read. So the
    users and their accounts are locked, in this order, and compared again.
    """
    with transaction.atomic(using=databases.primary()):
        users = _locked(_users(), outdated)
        accounts = _locked(Account.objects.all(), outdated)
        copied_by_user = [(user, copies(user)) for user in users.values()]
        new, changed = _compare(copied_by_user, accounts, report)
        try:
            _store(new, changed)
        except DatabaseError as error:
            if not databases.is_refusal(error):
                raise
            # A user signed up or changed an identifier after the first pass, or a rule of the
            # database refuses an account: write this batch row by row.
            calls: list[tuple[Any, Callable[[Any], object]]]
            calls = [(account.user, create_account) for account in new]
            calls += [(users[account.pk], lookup.get_person) for account, _ in changed]
            return [user.pk for user, write in calls if not _write_one(user, write)]
    return []


def _write_one(user: Any, write: Callable[[Any], object]) -> bool:
    """False if the database refuses the account."""
    try:
        with transaction.atomic(using=databases.primary()):
            write(user)
    except (DatabaseError, Account.DoesNotExist) as error:
        if isinstance(error, DatabaseError) and not databases.is_refusal(error):
            raise
        # The text of the error may have the values of the row.
        kind = type(error.__cause__ or error).__name__
        logger.warning("The database refuses the account of user %s: %s", user.pk, kind)
        return False
    return True


def _locked(rows: Any, pks: list[Any]) -> dict[Any, Any]:
    """The rows by primary key, locked until the transaction ends, in the order of their keys as in
    `passwords.lock_users`. Whole rows are read: if the model inherits the table of another model,
    the rows of both tables are locked."""
    no_key = connections[databases.primary()].features.has_select_for_no_key_update
    rows = rows.select_related(None).order_by("pk").select_for_update(no_key=no_key)
    locked: dict[Any, Any] = rows.in_bulk(pks)
    return locked


def _store(new: list[Account], changed: list[Changed]) -> None:
    for account, copied in changed:
        for name, value in copied.items():
            setattr(account, name, value)
    with transaction.atomic(using=databases.primary()):
        Account.objects.bulk_create(new)
        Account.objects.bulk_update([account for account, _ in changed], COPIES)
