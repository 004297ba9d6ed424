"""`manage.py authservice_openapi`: print the API description to standard output."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from authservice.core.management.command_line import InterruptibleCommand
from authservice.openapi import as_text
from authservice.openapi.document import describe


class Command(InterruptibleCommand):
    help = "Print the OpenAPI description of the API as YAML or JSON."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--format", choices=["yaml", "json"], default="yaml")
        parser.add_argument(
            "--without-guards",
            action="store_true",
            help="Leave out what request guards require, such as the header of CSRF tokens.",
        )

    def handle(self, *, format: str, without_guards: bool, **_: Any) -> None:  # noqa: A002 the option
        render = as_text.as_yaml if format == "yaml" else as_text.as_json
        self.stdout.write(render(describe(guards=not without_guards)), ending="")
