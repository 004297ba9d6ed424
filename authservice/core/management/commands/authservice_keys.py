"""`manage.py authservice_keys`: generate, list and rotate the keys that sign access tokens."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError

from authservice import key_file
from authservice.core.management.command_line import InterruptibleCommand
from authservice.core.tokens import key_rotation, signing
from authservice.kernel import clock
from authservice.key_file import Entry

_WITHOUT_FILE = """\
Key {kid}. Keep the private key above secret, and add it to the settings:

    AUTHSERVICE["SIGNING_KEYS"] = [
        {{"alg": "{alg}", "private_key": the_text_above, "state": "next"}},
        ...
    ]

A day later, set its state to "active" and the state of the active key to "retired". Remove the
retired key a day after that, once its tokens have expired. The very first key is "active" at once.
"""


class Command(InterruptibleCommand):
    help = "Generate, list and rotate the keys that sign access tokens."

    def add_arguments(self, parser: ArgumentParser) -> None:
        steps = parser.add_subparsers(dest="step", required=True, metavar="STEP")
        generate = steps.add_parser("generate", help="generate the next key")
        list_keys = steps.add_parser("list", help="list the keys, without private keys")
        rotate = steps.add_parser("rotate", help="activate the next key, retire the active one")
        retire = steps.add_parser("retire", help="remove retired keys whose tokens have expired")
        generate.add_argument("--file", help="the key file; without it, the key is only printed")
        list_keys.add_argument("--file", help="the key file (default: the keys in the settings)")
        for step in (rotate, retire):
            step.add_argument("--file", required=True, help="the key file")
            step.add_argument("--force", action="store_true", help="skip the waiting period")
        for step in (generate, rotate):
            step.add_argument(
                "--alg",
                choices=signing.ALGORITHMS,
                default="EdDSA",
                help="algorithm of the new key",
            )
        rotate.add_argument(
            "--generate",
            action="store_true",
            help="also generate a new next key; if there was no next key, only that",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        getattr(self, f"_{options['step']}")(**options)

    def _generate(self, *, alg: str, file: str | None, **_: Any) -> None:
        now = clock.utc()
        if file is None:
            entry = key_rotation.new(alg, state="next", now=now)
            self.stdout.write(entry["private_key"])
            self.stderr.write(_WITHOUT_FILE.format(**entry))
            return
        with _editing(file) as entries:
            entry = key_rotation.add(entries, alg, now=now)
        self.stdout.write(_generated(entry))

    def _list(self, *, file: str | None, **_: Any) -> None:
        keys: Iterable[signing.Key]
        try:
            if file:
                keys = key_rotation.require_valid(key_file.load(file))
            else:
                keys = signing.ring().keys.values()
        except (key_rotation.Refused, ImproperlyConfigured) as error:
            raise CommandError(str(error)) from error
        for key in keys:
            self.stdout.write(f"{key.kid}  {key.alg:<5}  {key.state}")
        if file and key_file.seen_by_others(file):
            text = f"Other users can read {file}: run `chmod 600 {file}`."
            self.stderr.write(self.style.WARNING(text))

    def _rotate(self, *, file: str, force: bool, generate: bool, alg: str, **_: Any) -> None:
        now = clock.utc()
        lines = []
        with _editing(file) as entries:
            added = key_rotation.ensure_next(entries, alg, now=now) if generate else []
            # A next key that was just added may be activated at once with `--force` only.
            if force or not added:
                active = key_rotation.rotate(entries, now=now, force=force)
                lines.append(f"Key {active['kid']} is active. Restart every process.")
            if generate:
                added += key_rotation.ensure_next(entries, alg, now=now)
        lines += [_generated(entry) for entry in added]
        self.stdout.write("\n".join(lines))

    def _retire(self, *, file: str, force: bool, **_: Any) -> None:
        with _editing(file) as entries:
            removed = key_rotation.retire(entries, now=clock.utc(), force=force)
        for entry in removed:
            self.stdout.write(f"Removed key {entry.get('kid')}.")
        if not removed:
            self.stdout.write("No retired key can be removed yet.")


def _generated(entry: Entry) -> str:
    return f"Generated key {entry['kid']} ({entry['alg']}), state: {entry['state']}."


@contextmanager
def _editing(file: str) -> Iterator[list[Entry]]:
    """The entries of the file. A step that is refused or results in invalid keys does not change
    the file."""
    try:
        with key_file.editing(file) as entries:
            yield entries
            key_rotation.require_valid(entries)
    except FileExistsError as error:
        raise CommandError(
            f"{error.filename} exists: another run is active, or a run was aborted. In the latter"
            " case delete the file."
        ) from error
    except (key_rotation.Refused, ImproperlyConfigured, OSError) as error:
        raise CommandError(str(error)) from error
