"""`manage.py authservice_doctor`: says whether this installation works, and what to do if not."""

from __future__ import annotations

import json
import textwrap
from argparse import ArgumentParser
from typing import Any

from authservice.core.doctor import report
from authservice.core.doctor.report import Report
from authservice.core.management.command_line import InterruptibleCommand
from authservice.kernel.checks import ATTENTION, BROKEN, OK, STATES, Finding

_WIDTH = 100
_INDENT = " " * 23  # as wide as the columns of state and area


class Command(InterruptibleCommand):
    help = (
        "Say whether this installation works: settings, database, cache, keys, mail, worker,"
        " cleanup, clocks and identity providers. Each finding names the setting and the next step."
        " The exit status is 1 if something is broken. It changes nothing and takes at most 30"
        " seconds."
    )
    # The report includes what the system checks say. They must not end the command before it.
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--format", choices=("text", "json"), default="text", help="form of the output (text)"
        )
        parser.add_argument(
            "--send-to",
            metavar="ADDRESS",
            default="",
            help="also send a test mail to this address; without it, only the login to the mail"
            " server is tried",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        examined = report.examine(send_to=options["send_to"])
        if options["format"] == "json":
            self.stdout.write(json.dumps(examined.as_json(), indent=2))
        else:
            self._print(examined)
        if examined.state == BROKEN:
            raise SystemExit(1)

    def _print(self, examined: Report) -> None:
        styles = {OK: self.style.SUCCESS, ATTENTION: self.style.WARNING, BROKEN: self.style.ERROR}
        for area, state, findings in examined.by_area():
            printed = [finding for finding in findings if finding.state != OK] or findings
            start = f"{styles[state](f'{state:<9}')}  {area:<10}  "
            for finding in printed:
                self.stdout.write(start + _described(finding, of_ok=state == OK))
                start = _INDENT
        states = [state for _, state, _ in examined.by_area()]
        counts = ", ".join(f"{states.count(state)} {state}" for state in STATES)
        self.stdout.write(f"\n{len(states)} areas: {counts} ({examined.seconds:.1f} s).")


def _described(finding: Finding, *, of_ok: bool) -> str:
    """The sentences about a finding below each other, each wrapped, behind the columns of state and
    area."""
    sentences = [finding.text]
    if finding.settings and not of_ok:
        sentences.append(f"Change: {finding.settings}")
    if finding.remedy and not of_ok:
        sentences.append(f"Next: {finding.remedy}")
    width = _WIDTH - len(_INDENT)
    options: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
    wrapped = (row for text in sentences for row in textwrap.wrap(text, width, **options))
    return f"\n{_INDENT}".join(wrapped)
