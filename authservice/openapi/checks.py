"""System checks of the API description."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from django.core import checks


def connect() -> None:
    checks.register(check_extra, "authservice")


def check_extra(**_: Any) -> list[checks.CheckMessage]:
    missing = [
        name for name in ("drf_spectacular", "drf_spectacular_sidecar") if find_spec(name) is None
    ]
    if not missing:
        return []
    return [
        checks.Error(
            f"authservice.openapi requires {' and '.join(missing)}.",
            hint="Run: pip install 'authservice[openapi]'",
            id="authservice.E170",
        )
    ]
