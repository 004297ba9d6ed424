"""Synchronises the accounts with the host's whole user table: creates missing accounts, updates
copies and keys.

An address that several users share is ambiguous. No user can log in with it unless one of them has
verified it; the others log in with their username. The table is read three times in primary-key
order, in batches: to find contested identifiers, to release outdated keys, and to write. Rows are
locked for one batch at a time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.hashers import BasePasswordHasher, identify_hasher, is_password_usable
from django.db import IntegrityError, transaction

from authservice.core.models import Account
from authservice.core.users import identifiers, lookup
from authservice.core.users.identifiers import EMAIL, USERNAME
from authservice.core.users.person import email_of, username_of
from authservice.core.users.user_model import host
from authservice.kernel import databases

KEYS = (EMAIL.unique, USERNAME.unique)
MOST_NAMED = 10

Progress = Callable[[int, int], None]


@dataclass
class Contested:
    """An identifier that several users claim, and the primary keys of these users."""

    kind: str
    text: str
    users: list[Any] = field(default_factory=list)


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
    # Users whose password no configured hasher can check, and the first `MOST_NAMED` of them.
    unreadable: int = 0
    with_unreadable: list[Any] = field(default_factory=list)
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
        _survey(users, report)
        progress(done := done + len(users), steps)
    report.seen.clear()
    _measure_hashers(report)
    for write in (False,) if dry_run else (False, True):
        for users in _batches(batch_size):
            _sync_batch(users, report, write=write, dry_run=dry_run)
            progress(done := done + len(users), steps)
    return report


def _users() -> Any:
    return host().model._base_manager.using(databases.primary())


def _batches(size: int) -> Iterator[list[Any]]:
    rows, last = _users().order_by("pk"), None
    while batch := list((rows.filter(pk__gt=last.pk) if last else rows)[:size]):
        yield batch
        last = batch[-1]


def _survey(users: list[Any], report: Report) -> None:
    for user in users:
        report.users += 1
        copied = lookup.copies(user)
        for half in [_half(copied[name]) for name in KEYS if copied.get(name)]:
            (report.shared if half in report.seen else report.seen).add(half)
        _note_hasher(user, report)
        _note_email(user, report)


def _note_email(user: Any, report: Report) -> None:
    email = email_of(user)
    if email and not identifiers.is_new_email(email):
        report.odd_emails += 1
        if len(report.with_odd_email) < MOST_NAMED:
            report.with_odd_email.append(user.pk)


def _half(key: str) -> int:
    return int(key[:32], 16)


def _list_contested(user: Any, copied: dict[str, Any], report: Report) -> None:
    for kind, text in ((EMAIL, email_of(user)), (USERNAME, username_of(user))):
        key = copied.get(kind.unique)
        if key and report.is_contested(key):
            report.contested.setdefault(key, Contested(kind.text, text)).users.append(user.pk)


def _note_hasher(user: Any, report: Report) -> None:
    encoded = user.password
    if not encoded or not is_password_usable(encoded):
        return
    try:
        hasher = identify_hasher(encoded)
        cost = _cost(hasher, encoded)
    except (ValueError, KeyError, AssertionError):
        report.unreadable += 1
        if len(report.with_unreadable) < MOST_NAMED:
            report.with_unreadable.append(user.pk)
        return
    work = [f"{k}={v}" for k, v in sorted(cost.items()) if k in _COSTS]
    name = " ".join([str(hasher.algorithm), *work])
    report.hashers.setdefault(name, Hasher(name, 0, encoded)).users += 1


def _cost(hasher: BasePasswordHasher, encoded: str) -> dict[str, Any]:
    try:
        return hasher.decode(encoded)
    except NotImplementedError:
        # Django's base class raises this for hashers that do not implement `decode`.
        return {}


_COSTS = ("iterations", "work_factor", "time_cost", "memory_cost", "parallelism", "block_size")


def _measure_hashers(report: Report) -> None:
    for hasher in report.hashers.values():
        started = time.perf_counter()
        identify_hasher(hasher.sample).verify("no password", hasher.sample)
        hasher.seconds = time.perf_counter() - started


def _sync_batch(users: list[Any], report: Report, *, write: bool, dry_run: bool) -> None:
    using = databases.primary()
    accounts = Account.objects.in_bulk([user.pk for user in users])
    new, changed = [], []
    for user in users:
        account = accounts.get(user.pk)
        wanted = lookup.copies(user)
        if not write:
            _list_contested(user, wanted, report)
        _drop_contested(wanted, account, report)
        if account is None:
            new.append(lookup.unsaved_account(user, wanted))
        elif any(getattr(account, name) != value for name, value in wanted.items()):
            changed.append((account, wanted))
    if dry_run or write:
        report.created += len(new)
    if not write:
        # A key may move from one user to another, and keys are unique: the first pass releases all
        # keys that move, before the second pass writes any.
        report.updated += len(changed)
        if not dry_run:
            _release(changed, using)
        return
    _store(new, changed, using)


def _drop_contested(wanted: dict[str, Any], account: Account | None, report: Report) -> None:
    for name in KEYS:
        key = wanted.get(name)
        if report.is_contested(key) and not (account and _is_verified(account, name, key)):
            wanted[name] = None


def _is_verified(account: Account, name: str, key: str | None) -> bool:
    return name == EMAIL.unique and account.verified_email_key == key


def _release(changed: list[tuple[Account, dict[str, Any]]], using: str) -> None:
    pks = [account.pk for account, wanted in changed if any(_moves(account, wanted))]
    Account.objects.filter(pk__in=pks).update(**dict.fromkeys(KEYS))


def _moves(account: Account, wanted: dict[str, Any]) -> Iterator[bool]:
    for name in KEYS:
        yield getattr(account, name) != wanted.get(name, getattr(account, name))


def _store(new: list[Account], changed: list[tuple[Account, dict[str, Any]]], using: str) -> None:
    for account, wanted in changed:
        for name, value in wanted.items():
            setattr(account, name, value)
    try:
        with transaction.atomic(using=using):
            Account.objects.bulk_create(new)
            Account.objects.bulk_update([account for account, _ in changed], lookup.COPIES)
    except IntegrityError:
        # A user signed up or changed an identifier after the first pass: write this batch row by
        # row.
        for account in new:
            lookup.create_account(account.user)
        for account, _ in changed:
            lookup.get_person(account.user)
