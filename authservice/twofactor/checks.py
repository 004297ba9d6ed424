"""System checks of this module."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.apps import apps
from django.core.checks import CheckMessage, register

from authservice.core.credentials import known_devices
from authservice.kernel.checks import message
from authservice.kernel.settings import complaints
from authservice.twofactor.conf import conf


def connect() -> None:
    register(check_twofactor, "authservice")


def check_twofactor(**_: Any) -> Iterator[CheckMessage]:
    # Core's own check reports wrong keys and types; until they are fixed the settings cannot be
    # read.
    if not apps.is_installed("authservice.twofactor") or list(complaints()):
        return
    if ":" in conf.issuer:
        yield message(
            "authservice.E140",
            f"TWOFACTOR.ISSUER is {conf.issuer!r}, but must not contain a colon: authenticator apps"
            " cut the name there.",
        )
    if not timedelta(0) <= conf.remember_ttl <= known_devices.TTL:
        yield message(
            "authservice.E141",
            f"TWOFACTOR.REMEMBER_TTL is {conf.remember_ttl}, but must be between 0 and"
            f" {known_devices.TTL.days} days.",
        )
