"""`manage.py authservice_password_filter`: build the file of the validator `NotCommon`."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandError

from authservice.core.credentials import password_filter
from authservice.core.management.command_line import InterruptibleCommand, counted, progress

_STEP = 10_000  # passwords between two updates of the progress bar


class Command(InterruptibleCommand):
    help = "Build the file of NotCommon from a list of common passwords."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("list", nargs="+", help="a text file with one password on each line")
        parser.add_argument("--output", required=True, help="the file to write or replace")

    def handle(self, *args: Any, **options: Any) -> None:
        lists, output = options["list"], options["output"]
        try:
            capacity = sum(1 for path in lists for _ in password_filter.lines(path))
            added = password_filter.write(
                output, self._passwords(lists, capacity), capacity=capacity
            )
        except (OSError, ValueError) as error:
            raise CommandError(str(error)) from error
        size = os.path.getsize(output)
        self.stdout.write(f"Wrote {output}: {counted(added, 'password')}, {size:,} bytes.")

    def _passwords(self, lists: list[str], total: int) -> Iterator[str]:
        with progress(self.stderr, lambda: total) as show:
            done = 0
            for path in lists:
                for password in password_filter.lines(path):
                    yield password
                    done += 1
                    if done % _STEP == 0:
                        show(done)
