"""System checks of this module."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.apps import apps
from django.core import checks

from authservice.core.credentials import known_devices
from authservice.kernel.settings import complaints
from authservice.twofactor.conf import conf


def connect() -> None:
    checks.register(check_twofactor, "authservice")


def check_twofactor(**_: Any) -> Iterator[checks.CheckMessage]:
    # Core's own check says what is wrong with keys and types; until then nothing can be read.
    if not apps.is_installed("authservice.twofactor") or list(complaints()):
        return
    if ":" in conf.issuer:
        yield checks.Error(
            "AUTHSERVICE: TWOFACTOR.ISSUER has a colon, where apps take the name to end.",
            hint="Leave it out.",
            id="authservice.E140",
        )
    if not timedelta(0) <= conf.remember_ttl <= known_devices.TTL:
        yield checks.Error(
            "AUTHSERVICE: TWOFACTOR.REMEMBER_TTL must be between nothing and a year.",
            hint="30 days are usual; 0 asks for a code at each sign-in.",
            id="authservice.E141",
        )
