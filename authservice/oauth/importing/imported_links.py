"""Imports the links of another package, in batches that are committed one by one.

An imported link gives a user of a provider access to an account, so an import never changes a link
that is stored here. A row is a conflict if the user of the provider is linked to another account,
or the account to another user of the provider. A run that was interrupted can be repeated.

Imported links do not count as made at the sign-up (`at_signup`), even if they were in the other
package, because it may have verified less than a sign-up here. An attacker may have signed up there
with the address of another user and the attacker's own provider (account pre-hijacking). So the
first proof of the address removes an imported link, and such a link protects no other access from
that proof. It keeps the time at which the other package added it: a recovery removes links of the
last 72 hours, and keeps older ones.

For the same reason these links are skipped:

- a link that is older than a proof of the address here, which has removed all earlier access;
- a link of a user without a password who has never logged in. The first proof of the address
  removes nothing of such an account, so an attacker whose sign-up there was never confirmed would
  keep the link;
- a link of an identity that was removed from the account here;
- a link that an earlier run imported, or found here, and that is not here now: its user, staff or a
  recovery has removed it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.apps import apps
from django.db import transaction

from authservice.core.importing import imported_rows, package_tables
from authservice.core.importing.owners import NO_USER, Owners
from authservice.core.users import identifiers
from authservice.core.users.user_model import host
from authservice.kernel import clock, databases, events
from authservice.kernel.client import Client
from authservice.kernel.imports import (
    REFUSED,
    CannotImport,
    ImportOptions,
    ImportReport,
    ImportSource,
)
from authservice.kernel.retries import write_or_split
from authservice.oauth import registry, removed_links
from authservice.oauth.importing.known import KnownLinks
from authservice.oauth.importing.rows import PackageRows, Row
from authservice.oauth.importing.subjects import NotASubject, Subjects
from authservice.oauth.storage import Link

REMOVED = "the link was removed here"
KIND = "link"


@dataclass
class _Outcome:
    """The decision about a row: `link` is to be stored, or `reason` says why it is not. Both are
    empty if it is stored already."""

    row: Row
    link: Link | None = None
    reason: str = ""
    conflict: bool = False


@dataclass
class _Stored:
    """What is stored of the users of a batch."""

    owners: Owners
    removed: set[tuple[Any, str, str]]
    imported: Collection[Any]

    @classmethod
    def of(cls, users: set[Any], *, imported: Collection[Any], lock: bool) -> _Stored:
        # Until the batch is stored the users can neither link, unlink nor be deleted.
        owners = Owners.of(users, lock=lock)
        return cls(owners=owners, removed=removed_links.records_of(users), imported=imported)

    def doubt(self, row: Row, link: Link) -> str:
        """Why a link without a conflict must not be imported; "" if it may."""
        if row.pk in self.imported:
            return imported_rows.REMOVED
        if doubt := self.owners.doubt(link.user_id, link.added_at):
            return doubt
        return REMOVED if removed_links.is_among(link, self.removed) else ""


class LinkImport(ImportSource):
    """A source of `authservice_import`: the links of one package."""

    what = "provider links"

    def __init__(self, package: PackageRows) -> None:
        self.package = package
        self.reads = package.reads

    def missing(self) -> str:
        if apps.is_installed(self.package.app):
            return ""
        return (
            f"{self.package.app!r} is not in INSTALLED_APPS. Its tables are read through the models"
            f" of {self.package.package}, so keep it installed until the import is done."
        )

    def run(self, options: ImportOptions) -> ImportReport:
        _check_names(options)
        model = self.package.model()
        if not issubclass(host().model, _user_model(model)):
            raise CannotImport("The links are those of another user model than AUTH_USER_MODEL.")
        rows = package_tables.rows(model)
        field = self.package.added_field
        found = package_tables.batches(rows, options, added_field=field)
        return _Run(self.package, options).over(found)


@dataclass
class _Run:
    package: PackageRows
    options: ImportOptions
    report: ImportReport = field(default_factory=ImportReport)
    # In a dry run this also has the links that earlier batches would have stored.
    known: KnownLinks = field(default_factory=KnownLinks)

    def __post_init__(self) -> None:
        self.subjects = Subjects(self.package, self.options.names)

    def over(self, batches: Iterator[tuple[list[Any], int]]) -> ImportReport:
        done = 0
        for stored, total in batches:
            rows = [self.package.read(row) for row in stored]
            for outcomes in write_or_split(self._import, rows, _refused):
                for outcome in outcomes:
                    _count(outcome, self.report)
            done += len(rows)
            self.options.progress(done, max(done, total))
        return self.report

    def _import(self, rows: Sequence[Row]) -> list[_Outcome]:
        if not self.options.dry_run:
            # Of this batch only. A retry must not find the links of the attempt before it.
            self.known = KnownLinks()
        with transaction.atomic(using=databases.primary()):
            outcomes = [self._outcome(row) for row in rows]
            users = self._decide_all(outcomes)
            new = [outcome for outcome in outcomes if outcome.link]
            if not self.options.dry_run:
                if new:
                    self._store(new, users)
                self._remember(outcomes)
        return outcomes

    def _remember(self, outcomes: Sequence[_Outcome]) -> None:
        """Links that are here now, or that their user has removed. Those that `--map` or a setting
        would let in later are not remembered."""
        here = [one for one in outcomes if one.link or one.reason in ("", REMOVED)]
        if here:
            imported_rows.remember(self.package.app, KIND, [one.row.pk for one in here])

    def _outcome(self, row: Row) -> _Outcome:
        try:
            provider, subject = self.subjects.of(row)
        except NotASubject as reason:
            return _Outcome(row, reason=str(reason))
        return _Outcome(row, link=_link(row, provider, subject))

    def _decide_all(self, outcomes: list[_Outcome]) -> Mapping[Any, Any]:
        """Decide about each link by what is stored; returns the users, who are locked."""
        links = [outcome.link for outcome in outcomes if outcome.link]
        lock = not self.options.dry_run
        imported = imported_rows.seen(self.package.app, KIND, [one.row.pk for one in outcomes])
        stored = _Stored.of({one.user_id for one in links}, imported=imported, lock=lock)
        self.known.read(links)
        for outcome in outcomes:
            if link := outcome.link:
                self._decide(outcome, link, stored)
        return stored.owners.users

    def _decide(self, outcome: _Outcome, link: Link, stored: _Stored) -> None:
        conflict = self.known.conflict(link)
        if link.user_id not in stored.owners.users:
            outcome.reason = NO_USER
        elif conflict:
            outcome.reason, outcome.conflict = conflict, True
        elif not self.known.has(link):
            outcome.reason = stored.doubt(outcome.row, link)
        if outcome.reason or self.known.has(link):
            outcome.link = None
        else:
            self.known.note(link)

    def _store(self, new: list[_Outcome], users: Mapping[Any, Any]) -> None:
        taken = self.known.store([outcome.link for outcome in new if outcome.link])
        for outcome in new:
            link = outcome.link
            if link in taken:
                # A login with the provider has stored it, or another one, in the meantime.
                outcome.link, outcome.reason = None, taken[link]
                outcome.conflict = bool(taken[link])
        _record([outcome.link for outcome in new if outcome.link], users)


def _refused(row: Row) -> list[_Outcome]:
    return [_Outcome(row, reason=REFUSED)]


def _count(outcome: _Outcome, report: ImportReport) -> None:
    report.read += 1
    if outcome.link:
        report.imported += 1
    elif not outcome.reason:
        report.present += 1
    else:
        add = report.conflict if outcome.conflict else report.skip
        add(outcome.reason, outcome.row.pk, outcome.row.user_id)


def _record(links: Sequence[Link], users: Mapping[Any, Any]) -> None:
    for provider in sorted({link.provider for link in links}):
        linked = [users[link.user_id] for link in links if link.provider == provider]
        events.record_all_by_staff(
            "auth.oauth.linked", None, linked, Client(), provider=provider, reason="import"
        )


def _link(row: Row, provider: str, subject: str) -> Link:
    return Link(
        user_id=row.user_id,
        provider=provider,
        subject=subject,
        email=row.email if identifiers.is_new_email(row.email) else "",
        at_signup=False,
        added_at=min(row.added_at, clock.now()),
    )


def _user_model(model: Any) -> Any:
    return model._meta.get_field("user").related_model


def _check_names(options: ImportOptions) -> None:
    for ours in options.names.values():
        if registry.get(ours) is None:
            known = ", ".join(registry.configured()) or "none"
            raise CannotImport(f"--map: {ours!r} is not in OAUTH.PROVIDERS, which has: {known}.")
