"""Ctrl-C ends a command with one line instead of a traceback.

Every command can be interrupted at any time: it writes in transactions, and another run does the
rest.
"""

from __future__ import annotations

import sys

from django.core.management.base import BaseCommand

INTERRUPTED = "Interrupted. Completed work is kept; run the command again to do the rest."
# 128 + SIGINT, as shells report a program that Ctrl-C ended.
STATUS = 130


class InterruptibleCommand(BaseCommand):
    """A command of the service. Code that calls it with `call_command` gets `KeyboardInterrupt`."""

    def run_from_argv(self, argv: list[str]) -> None:
        try:
            super().run_from_argv(argv)
        except KeyboardInterrupt:
            if self.stderr.isatty():
                self.stderr.write("")  # after "^C" and the progress bar
            self.stderr.write(INTERRUPTED)
            sys.exit(STATUS)
