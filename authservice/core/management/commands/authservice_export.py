"""`manage.py authservice_export`: everything that is stored about a user, in a file."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from authservice.core.management.command_line import InterruptibleCommand, named
from authservice.core.staff import export_user


class Command(InterruptibleCommand):
    help = "Write everything that is stored about one user to a file, as JSON."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", help="id, e-mail address or username")
        parser.add_argument(
            "--output", required=True, metavar="FILE", help="the file to write; it must not exist"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        person, output = named(options["user"]), Path(options["output"])
        if output.exists():
            raise CommandError(f"{output} exists. Delete it, or name another file.")
        # Only the user who runs the command can read the file. It gets its name once it is whole.
        unfinished = output.with_name(f"{output.name}.unfinished")
        try:
            _write(unfinished, export_user.export_by_staff(person))
            unfinished.rename(output)
        except OSError as error:
            raise CommandError(f"{output} could not be written: {error}") from error
        self.stdout.write(f"Wrote the data of user {person.id} to {output}.")


def _write(path: Path, chunks: Iterator[bytes]) -> None:
    with suppress(FileNotFoundError):
        path.unlink()  # left by a run that was killed
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(chunks)
    except BaseException:
        path.unlink()
        raise
