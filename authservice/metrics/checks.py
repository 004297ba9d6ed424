"""System check of the metrics module."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from django.apps import apps
from django.core.checks import CheckMessage, register

from authservice.kernel.checks import declare, message

declare(
    {
        "authservice.W280": (
            "authservice.metrics is installed, and the API of OpenTelemetry is not: nothing is"
            " counted.",
            "Run: pip install 'authservice[metrics]'",
        ),
    }
)


def connect() -> None:
    register(check_package, "authservice")


def check_package(**_: Any) -> list[CheckMessage]:
    absent = apps.is_installed("authservice.metrics") and not is_package_installed()
    return [message("authservice.W280")] if absent else []


def is_package_installed() -> bool:
    """Whether the API can be imported. Other packages share its top-level name."""
    try:
        return find_spec("opentelemetry.metrics") is not None
    except ModuleNotFoundError:
        return False
