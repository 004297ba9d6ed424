"""The sources of this module: the links of another package are imported in batches that are
committed one by one. Each source reads its package's tables through Django's registry of models, so
that no package needs to be installed.

An imported link gives a user of a provider access to an account, so an import never changes a link
that is stored here. A row is a conflict if the user of the provider is linked to another account,
or the account to another user of the provider. A run that was interrupted can be repeated.

Imported links do not count as made at the sign-up (`at_signup`), even if they were in the other
package, because that package may have verified less than a sign-up here. An attacker may have
signed up there with the address of another user and the attacker's own provider (account
pre-hijacking). So the first proof of the address removes an imported link, and because of such a
link no other access is kept at that proof. An imported link keeps the time at which the other
package added it: a recovery removes links of the last 72 hours, and keeps older ones.

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
from django.db import IntegrityError, transaction

from authservice.core.importing import package_tables
from authservice.core.importing.package_tables import NO_USER, Owners
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
from authservice.oauth import eviction, provider_settings, storage
from authservice.oauth.importing.package_links import (
    AllauthRows,
    NotASubject,
    PackageRows,
    Row,
    SocialDjangoRows,
    Subjects,
)
from authservice.oauth.models import LinkedAccount
from authservice.oauth.storage import DatabaseLinks, Link, LinkTaken

REMOVED_HERE = "the link was removed here"
LINKED_ELSEWHERE = "the user of the provider is linked to another account"
SECOND = "the account is linked to another user of the provider"
KIND = "link"


def import_sources() -> Iterator[tuple[str, ImportSource]]:
    """Each source with the name of its package; `kernel/imports.py` finds this function by name."""
    yield "social_django", LinkImport(SocialDjangoRows())
    yield "allauth", LinkImport(AllauthRows())


@dataclass
class KnownLinks:
    """The links that are stored here, read and written for a whole batch at once. `user_of` has the
    account of each user of a provider, `subject_of` the user of the provider of each account.

    A storage of the host project (`OAUTH.OAUTH_STORAGE`) is called for each link, since its
    protocol has no methods for several.
    """

    user_of: dict[tuple[str, str], Any] = field(default_factory=dict)
    subject_of: dict[tuple[Any, str], str] = field(default_factory=dict)

    def read(self, links: Sequence[Link]) -> None:
        """Read what is stored of these links."""
        stored: list[Link] = []
        if _is_built_in():
            # In two statements; each uses one of the table's unique indexes.
            keys = {storage.subject_key(link.subject) for link in links}
            rows = LinkedAccount.objects.filter(provider__in={link.provider for link in links})
            of_subjects = rows.filter(subject_key__in=keys)
            of_users = rows.filter(user__in={link.user_id for link in links})
            stored = [storage.of_row(row) for row in (*of_subjects, *of_users)]
        else:
            for link in links:
                owned = storage.links().find(link.provider, link.subject)
                stored += [owned] if owned else []
                stored += storage.links().of_user(link.user_id)
        for link in stored:
            self.note(link)

    def note(self, link: Link) -> None:
        self.user_of[link.provider, link.subject] = link.user_id
        self.subject_of[link.user_id, link.provider] = link.subject

    def has(self, link: Link) -> bool:
        return bool(self.user_of.get((link.provider, link.subject)) == link.user_id)

    def conflict(self, link: Link) -> str:
        """Why the link contradicts a stored one; "" if it does not."""
        if self.has(link):
            return ""
        if (link.provider, link.subject) in self.user_of:
            return LINKED_ELSEWHERE
        return SECOND if (link.user_id, link.provider) in self.subject_of else ""

    def store(self, links: Sequence[Link]) -> dict[Link, str]:
        """Store the links. Returns those that a concurrent login has taken since they were read,
        each with its conflict, or with "" if the login has stored this very link."""
        if _is_built_in() and _inserted(links):
            return {}
        conflicts: dict[Link, str] = {}
        for link in links:
            try:
                storage.links().add(link)
            except LinkTaken:
                present = KnownLinks()
                present.read([link])
                conflicts[link] = "" if present.has(link) else present.conflict(link) or REFUSED
        return conflicts


def _is_built_in() -> bool:
    # A subclass may do more for each link, so its methods are called for each one.
    return type(storage.links()) is DatabaseLinks


def _inserted(links: Sequence[Link]) -> bool:
    using = databases.primary()
    try:
        with transaction.atomic(using=using):
            LinkedAccount.objects.using(using).bulk_create([storage.to_row(link) for link in links])
    except IntegrityError:
        return False
    return True


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
    """What is stored of the users of a batch. `removed` are the records of links that were removed
    here; `imported` are the primary keys of the package's rows that an earlier run settled."""

    owners: Owners
    removed: set[tuple[Any, str, str]]
    imported: Collection[Any]

    @classmethod
    def of(cls, users: set[Any], *, imported: Collection[Any], lock: bool) -> _Stored:
        # With the lock the users can neither link, unlink nor be deleted until the batch is stored.
        owners = Owners.of(users, lock=lock)
        return cls(owners=owners, removed=eviction.records_of(users), imported=imported)

    def doubt(self, row: Row, link: Link) -> str:
        """Why a link without a conflict must not be imported; "" if it may."""
        if row.pk in self.imported:
            return package_tables.REMOVED
        if doubt := self.owners.doubt(link.user_id, link.added_at):
            return doubt
        return REMOVED_HERE if eviction.is_among(link, self.removed) else ""


class LinkImport(ImportSource):
    """A source of `authservice_import`: the links of one package."""

    data_kind = "provider links"

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
        for provider in options.names.values():
            if provider_settings.find_provider(provider) is None:
                configured = ", ".join(provider_settings.configured()) or "none"
                text = f"--map: {provider!r} is not in OAUTH.PROVIDERS, which has: {configured}."
                raise CannotImport(text)
        model: Any = self.package.model()
        if not issubclass(host().model, model._meta.get_field("user").related_model):
            raise CannotImport("The links are those of another user model than AUTH_USER_MODEL.")
        rows = package_tables.rows(model)
        batches = package_tables.batches(rows, options, added_field=self.package.added_field)
        return _Run(self.package, options).over(batches)


@dataclass
class _Run:
    """One run of an import, with its options and its report."""

    package: PackageRows
    options: ImportOptions
    report: ImportReport = field(default_factory=ImportReport)
    # In a dry run this also has the links that earlier batches would have stored.
    known_links: KnownLinks = field(default_factory=KnownLinks)

    def __post_init__(self) -> None:
        self.subjects = Subjects(self.package, self.options.names)

    def over(self, batches: Iterator[tuple[list[Any], int]]) -> ImportReport:
        for package_rows in self.options.each(batches):
            rows = [self.package.read(row) for row in package_rows]
            for outcomes in databases.write_or_split(self._import, rows, _refused):
                for outcome in outcomes:
                    _count(outcome, self.report)
        return self.report

    def _import(self, rows: Sequence[Row]) -> list[_Outcome]:
        if not self.options.dry_run:
            # Each batch begins without links: a retry must not find those that the failed attempt
            # noted.
            self.known_links = KnownLinks()
        with transaction.atomic(using=databases.primary()):
            outcomes = [self._outcome(row) for row in rows]
            users = self._decide(outcomes)
            if not self.options.dry_run:
                self._store(outcomes, users)
        return outcomes

    def _outcome(self, row: Row) -> _Outcome:
        try:
            provider, subject = self.subjects.of(row)
        except NotASubject as reason:
            return _Outcome(row, reason=str(reason))
        link = Link(
            user_id=row.user_id,
            provider=provider,
            subject=subject,
            email=row.email if identifiers.is_new_email(row.email) else "",
            at_signup=False,
            added_at=min(row.added_at, clock.now()),
        )
        return _Outcome(row, link=link)

    def _decide(self, outcomes: list[_Outcome]) -> Mapping[Any, Any]:
        """Decide about each link by what is stored; returns the users, who are locked."""
        links = [outcome.link for outcome in outcomes if outcome.link]
        lock = not self.options.dry_run
        pks = [outcome.row.pk for outcome in outcomes]
        imported = package_tables.seen(self.package.app, KIND, pks)
        stored = _Stored.of({link.user_id for link in links}, imported=imported, lock=lock)
        self.known_links.read(links)
        for outcome in outcomes:
            link = outcome.link
            if link is None:
                continue
            conflict = self.known_links.conflict(link)
            if link.user_id not in stored.owners.users:
                outcome.reason = NO_USER
            elif conflict:
                outcome.reason, outcome.conflict = conflict, True
            elif not self.known_links.has(link):
                outcome.reason = stored.doubt(outcome.row, link)
            if outcome.reason or self.known_links.has(link):
                outcome.link = None
            else:
                self.known_links.note(link)
        return stored.owners.users

    def _store(self, outcomes: list[_Outcome], users: Mapping[Any, Any]) -> None:
        """Store the new links, record them, and remember the rows that are settled."""
        new = {outcome.link: outcome for outcome in outcomes if outcome.link}
        conflicts = self.known_links.store([*new]) if new else {}
        for link, outcome in new.items():
            if link in conflicts:
                # A login with the provider has stored this link, or a conflicting one, in the
                # meantime.
                outcome.link, outcome.reason = None, conflicts[link]
                outcome.conflict = bool(conflicts[link])
        added = [link for link in new if link not in conflicts]
        for provider in sorted({link.provider for link in added}):
            linked_users = [users[link.user_id] for link in added if link.provider == provider]
            events.record_all_by_staff(
                "auth.oauth.linked",
                None,
                linked_users,
                Client(),
                provider=provider,
                reason="import",
            )
        # Rows to remember: links that are here now (the reason is ""), or were removed here. A row
        # with `package_tables.REMOVED` is remembered already. The others may be imported by a later
        # run, with another `--map` or setting.
        settled = [
            candidate.row.pk
            for candidate in outcomes
            if candidate.link or candidate.reason in ("", REMOVED_HERE)
        ]
        if settled:
            package_tables.remember(self.package.app, KIND, settled)


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
