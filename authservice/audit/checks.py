"""System check: the audit log must be in the database of the accounts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.core.checks import CheckMessage, register
from django.db import router

from authservice.audit.models import Entry
from authservice.kernel import databases
from authservice.kernel.checks import declare, message

declare(
    {
        "authservice.E154": (
            "The audit log is not in the database of the accounts. An entry must be written in the"
            " transaction of its action, which is not possible across databases.",
            "Route 'authservice_audit' to the database of 'authservice_core'.",
        ),
    }
)


def connect() -> None:
    register(check_audit, "authservice")


def check_audit(**_: Any) -> Iterator[CheckMessage]:
    if apps.is_installed("authservice.audit") and router.db_for_write(Entry) != databases.primary():
        yield message("authservice.E154")
