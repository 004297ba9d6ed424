"""`manage.py authservice_import`: import the data of another package."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from django.core.management.base import CommandError

from authservice.core.importing.sources import missing_app
from authservice.core.management.naming import moment
from authservice.core.management.progress import InterruptibleCommand, counted, show_progress
from authservice.kernel.imports import (
    REFUSED,
    CannotImport,
    ImportOptions,
    ImportReport,
    ImportSource,
    Rows,
    sources,
)


class Command(InterruptibleCommand):
    help = (
        "Import the data of another package. Without SOURCE, list the sources. A run can be "
        "repeated: it skips rows that were imported before, and never overwrites anything."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", nargs="?", help="the package whose data is imported")
        parser.add_argument("--dry-run", action="store_true", help="report, but write nothing")
        parser.add_argument(
            "--map",
            action="append",
            default=[],
            metavar="THEIRS=OURS",
            help="our name (OURS) for a name in the package (THEIRS); can be repeated",
        )
        parser.add_argument(
            "--since",
            metavar="DATE",
            help="only rows that the package added since then, such as 2030-01-31 or"
            " 2030-01-31T12:00",
        )
        parser.add_argument("--batch-size", type=int, default=500, help="rows per batch (500)")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["batch_size"] < 1:
            raise CommandError("--batch-size must be at least 1.")
        if not options["source"]:
            self._list()
            return
        chosen = _sources().get(options["source"], [])
        _check(options["source"], chosen)
        refused = 0
        for source in chosen:
            if missing := source.missing():
                self.stdout.write(f"{source.what}: not read. {missing}")
            else:
                refused += self._run(source, self._options(options))
        if refused:
            raise CommandError(_REFUSED.format(rows=counted(refused, "row")))

    def _options(self, given: dict[str, Any]) -> ImportOptions:
        return ImportOptions(
            names=_names(given["map"]),
            since=moment("--since", given["since"]) if given["since"] is not None else None,
            batch_size=given["batch_size"],
            dry_run=given["dry_run"],
            progress=partial(show_progress, self.stderr),
        )

    def _list(self) -> None:
        for name, of_package in _sources().items():
            for source in of_package:
                state = missing_app(name) or source.missing() or "ready"
                self.stdout.write(f"{name} ({source.what}): {state}")

    def _run(self, source: ImportSource, options: ImportOptions) -> int:
        """Returns how many rows the database refused."""
        try:
            report = source.run(options)
        except CannotImport as wrong:
            raise CommandError(str(wrong)) from wrong
        self._print(source.what, report, dry_run=options.dry_run)
        groups = (report.conflicts, report.skipped)
        return sum(rows[REFUSED].number for rows in groups if REFUSED in rows)

    def _print(self, what: str, report: ImportReport, *, dry_run: bool) -> None:
        verb = "would be imported" if dry_run else "imported"
        conflicts = counted(_total(report.conflicts), "conflict")
        skipped = _total(report.skipped)
        self.stdout.write(
            f"{what}: {counted(report.read, 'row')} read, {report.imported} {verb},"
            f" {report.present} already there, {conflicts}, {skipped} skipped."
        )
        for title, groups in (("Conflict", report.conflicts), ("Skipped", report.skipped)):
            for reason, rows in groups.items():
                self.stdout.write(self.style.WARNING(f"{title}: {reason}: {_listed(rows)}"))


_REFUSED = (
    "The database refuses {rows}, which the report names. All others were imported. The log has the"
    " kind of each error. Correct the rows, and run the command again."
)


def _sources() -> dict[str, list[ImportSource]]:
    """The sources of all installed modules; several modules may import data of one package."""
    found: dict[str, list[ImportSource]] = {}
    for name, source in sources():
        found.setdefault(name, []).append(source)
    return found


def _check(name: str, chosen: Iterable[ImportSource]) -> None:
    if not chosen:
        known = ", ".join(_sources())
        raise CommandError(
            f"There is no source {name!r}. Sources of the installed modules: {known}. Is the module"
            " that stores this data in INSTALLED_APPS?"
        )
    if missing := missing_app(name):
        raise CommandError(missing)
    parts = [source.missing() for source in chosen]
    if all(parts):
        raise CommandError(" ".join(parts))


def _names(given: Iterable[str]) -> dict[str, str]:
    names: dict[str, str] = {}
    for pair in given:
        theirs, equals, ours = pair.partition("=")
        if not (theirs and equals and ours):
            raise CommandError(f"--map must be THEIRS=OURS, not {pair!r}.")
        if names.setdefault(theirs, ours) != ours:
            raise CommandError(f"--map names two counterparts of {theirs!r}.")
    return names


def _total(groups: Mapping[str, Rows]) -> int:
    return sum(rows.number for rows in groups.values())


def _listed(rows: Rows) -> str:
    named = ", ".join(f"{row} (user {user})" for row, user in rows.named)
    more = rows.number - len(rows.named)
    return f"rows {named}" + (f" and {more} more" if more > 0 else "")
