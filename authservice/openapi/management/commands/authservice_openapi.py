"""`manage.py authservice_openapi`: print the API description to standard output."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from authservice.core.management.interrupts import InterruptibleCommand
from authservice.openapi import rendering
from authservice.openapi.document import describe


class Command(InterruptibleCommand):
    help = "Print the OpenAPI description of the API as YAML or JSON."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--format", choices=["yaml", "json"], default="yaml")

    def handle(self, *, format: str, **_: Any) -> None:  # noqa: A002 the option's name
        render = rendering.as_yaml if format == "yaml" else rendering.as_json
        self.stdout.write(render(describe()), ending="")
