"""`manage.py authservice_import`: import the data of another package."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from django.core.management.base import CommandError

from authservice.core.importing.sources import missing_app
from authservice.core.management.command_line import (
    InterruptibleCommand,
    counted,
    moment,
    show_progress,
)
from authservice.kernel.checks import listed
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
        name, by_package = options["source"], _sources()
        package_sources = by_package.get(name, [])
        if not package_sources:
            raise CommandError(
                f"There is no source {name!r}. Sources of the installed modules:"
                f" {', '.join(by_package)}. Is the module that stores this data in INSTALLED_APPS?"
            )
        if missing := missing_app(name):
            raise CommandError(missing)
        reasons = [source.missing() for source in package_sources]
        if all(reasons):
            raise CommandError(" ".join(reasons))
        refused = 0
        for source in package_sources:
            if missing := source.missing():
                self.stdout.write(f"{source.data_kind}: not read. {missing}")
            else:
                refused += self._run(source, options)
        if refused:
            raise CommandError(_REFUSED.format(rows=counted(refused, "row")))

    def _list(self) -> None:
        for name, package_sources in _sources().items():
            for source in package_sources:
                state = missing_app(name) or source.missing() or "ready"
                self.stdout.write(f"{name} ({source.data_kind}): {state}")

    def _run(self, source: ImportSource, arguments: dict[str, Any]) -> int:
        """Import and report; returns how many rows the database refused."""
        options = ImportOptions(
            names=_names(arguments["map"]),
            since=moment("--since", arguments["since"]) if arguments["since"] is not None else None,
            batch_size=arguments["batch_size"],
            dry_run=arguments["dry_run"],
            progress=partial(show_progress, self.stderr),
        )
        try:
            report = source.run(options)
        except CannotImport as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{source.data_kind}: {_summary(source, report, options)}")
        # Such a source has no rows that could be imported: its rows are only reported.
        title_of_skipped = "Not imported" if source.only_reports else "Skipped"
        groups_of_title = (("Conflict", report.conflicts), (title_of_skipped, report.skipped))
        for title, groups in groups_of_title:
            for reason, rows in groups.items():
                names = [f"{row} (user {user})" for row, user in rows.named]
                named = listed(names, most=len(names), total=rows.number)
                self.stdout.write(self.style.WARNING(f"{title}: {reason}: rows {named}"))
        refusals = (groups.get(REFUSED) for groups in (report.conflicts, report.skipped))
        return sum(rows.number for rows in refusals if rows)


_REFUSED = (
    "The database refuses {rows}, which the report names. All others were imported. The log has the"
    " kind of each error. Correct the rows, and run the command again."
)


def _sources() -> dict[str, list[ImportSource]]:
    """The sources of all installed modules; several modules may import data of one package."""
    by_package: dict[str, list[ImportSource]] = {}
    for name, source in sources():
        by_package.setdefault(name, []).append(source)
    return by_package


def _summary(source: ImportSource, report: ImportReport, options: ImportOptions) -> str:
    read = counted(report.read, "row")
    if source.only_reports:
        if not report.read:
            return f"{read}."
        return f"{read}. This is no failure: this run imports none of them, for these reasons."
    verb = "would be imported" if options.dry_run else "imported"
    conflicts = counted(_total(report.conflicts), "conflict")
    return (
        f"{read} read, {report.imported} {verb}, {report.present} already there, {conflicts},"
        f" {_total(report.skipped)} skipped."
    )


def _names(pairs: Iterable[str]) -> dict[str, str]:
    names: dict[str, str] = {}
    for pair in pairs:
        source_name, equals, own_name = pair.partition("=")
        if not (source_name and equals and own_name):
            raise CommandError(f"--map must be THEIRS=OURS, not {pair!r}.")
        if names.setdefault(source_name, own_name) != own_name:
            raise CommandError(f"--map names two counterparts of {source_name!r}.")
    return names


def _total(groups: Mapping[str, Rows]) -> int:
    return sum(rows.number for rows in groups.values())
