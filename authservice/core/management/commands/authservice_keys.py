"""`manage.py authservice_keys`: make, show and turn over the keys that sign access tokens."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError

from authservice import key_file
from authservice.core.tokens import key_rotation, signing_keys
from authservice.key_file import Entry

_WITHOUT_FILE = """\
Key {kid}. Keep the private key above to yourself, and list it in the settings:

    AUTHSERVICE = {{"SIGNING_KEYS": [
        {{"alg": "{alg}", "private_key": the_text_above, "state": "next"}},
        ...
    ]}}

A day later make its state "active" and the active one's "retired"; a day after that, and once the
tokens of the retired one have expired, take it out. The first key of all is "active" at once.
"""


class Command(BaseCommand):
    help = "Make, show and turn over the keys that sign access tokens."

    def add_arguments(self, parser: ArgumentParser) -> None:
        steps = parser.add_subparsers(dest="step", required=True, metavar="STEP")
        generate = steps.add_parser("generate", help="make a key that comes next")
        shown = steps.add_parser("list", help="show the keys; never a private one")
        rotate = steps.add_parser("rotate", help="let the next key sign, retire the active one")
        retire = steps.add_parser("retire", help="drop retired keys whose tokens have expired")
        for step in (generate, shown):
            step.add_argument("--file", help="the key file; without it, the settings")
        for step in (rotate, retire):
            step.add_argument("--file", required=True, help="the key file")
            step.add_argument("--force", action="store_true", help="do not wait")
        for step in (generate, rotate):
            step.add_argument("--alg", choices=signing_keys.ALGORITHMS, default="EdDSA")
        rotate.add_argument(
            "--generate",
            action="store_true",
            help="leave a next key behind; without one before, that is all",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        getattr(self, f"_{options['step']}")(**options)

    def _generate(self, *, alg: str, file: str | None, **_: Any) -> None:
        now = datetime.now(UTC)
        if file is None:
            entry = key_rotation.new(alg, state="next", now=now)
            self.stdout.write(entry["private_key"])
            self.stderr.write(_WITHOUT_FILE.format(**entry))
            return
        with _editing(file) as entries:
            entry = key_rotation.add(entries, alg, now=now)
        self.stdout.write(f"Made {entry['kid']} ({alg}): it is {entry['state']}.")

    def _list(self, *, file: str | None, **_: Any) -> None:
        for key in _keys_of(file) if file else _keys_of_settings():
            self.stdout.write(f"{key.kid}  {key.alg:<5}  {key.state}")
        if file and key_file.seen_by_others(file):
            self.stderr.write(self.style.WARNING(f"{file} is open to others: chmod 600 it."))

    def _rotate(self, *, file: str, force: bool, generate: bool, alg: str, **_: Any) -> None:
        now, said = datetime.now(UTC), []
        with _editing(file) as entries:
            made = key_rotation.ensure_next(entries, alg, now=now) if generate else []
            if force or not made:
                active = key_rotation.rotate(entries, now=now, force=force)
                said.append(f"{active['kid']} is active. Restart every process.")
            if generate:
                made += key_rotation.ensure_next(entries, alg, now=now)
        said += [f"Made {entry['kid']} ({alg}): it is {entry['state']}." for entry in made]
        self.stdout.write("\n".join(said))

    def _retire(self, *, file: str, force: bool, **_: Any) -> None:
        with _editing(file) as entries:
            dropped = key_rotation.retire(entries, now=datetime.now(UTC), force=force)
        for entry in dropped:
            self.stdout.write(f"Dropped {entry.get('kid')}.")
        if not dropped:
            self.stdout.write("There is nothing to drop yet.")


@contextmanager
def _editing(file: str) -> Iterator[list[Entry]]:
    """The entries of the file; a step that is refused or leaves unusable keys changes nothing."""
    try:
        with key_file.editing(file) as entries:
            yield entries
            key_rotation.require_valid(entries)
    except FileExistsError as wrong:
        raise CommandError(
            f"{wrong.filename} exists: another run is at work, or one died. Then delete it."
        ) from wrong
    except (key_rotation.Refused, ImproperlyConfigured, OSError) as wrong:
        raise CommandError(str(wrong)) from wrong


def _keys_of(file: str) -> Sequence[signing_keys.Key]:
    try:
        return key_rotation.require_valid(key_file.load(file))
    except (key_rotation.Refused, ImproperlyConfigured) as wrong:
        raise CommandError(str(wrong)) from wrong


def _keys_of_settings() -> Sequence[signing_keys.Key]:
    try:
        return list(signing_keys.ring().keys.values())
    except ImproperlyConfigured as wrong:
        raise CommandError(str(wrong)) from wrong
