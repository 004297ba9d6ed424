"""System checks of the API description."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from django.core.checks import CheckMessage, register

from authservice.kernel.checks import declare, message

declare(
    {
        "authservice.E170": (
            "authservice.openapi requires PyYAML and drf-spectacular-sidecar. The description and"
            " its pages cannot be served.",
            "Run: pip install 'authservice[openapi]'",
        ),
    }
)


def connect() -> None:
    register(check_extra, "authservice")


def check_extra(**_: Any) -> list[CheckMessage]:
    packages = {"yaml": "PyYAML", "drf_spectacular_sidecar": "drf-spectacular-sidecar"}
    missing = [package for name, package in packages.items() if find_spec(name) is None]
    if not missing:
        return []
    text = f"authservice.openapi requires {' and '.join(missing)}."
    return [message("authservice.E170", text)]
