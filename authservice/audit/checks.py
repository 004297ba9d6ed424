"""System checks of this module: settings under which entries are lost, expire or go elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.core import checks
from django.db import router

from authservice.audit import retention
from authservice.audit.conf import conf
from authservice.audit.models import Entry
from authservice.kernel import databases
from authservice.kernel.actions import ACTIONS
from authservice.kernel.settings import complaints


def connect() -> None:
    checks.register(check_audit, "authservice")


def check_audit(**_: Any) -> list[checks.CheckMessage]:
    # Core's own check reports wrong keys and types; until they are fixed the settings cannot be
    # read.
    if not apps.is_installed("authservice.audit") or list(complaints()):
        return []
    return [*_excluded(), *_retention(), *_limit(), *_database()]


def _excluded() -> Iterator[checks.CheckMessage]:
    for action in conf.exclude:
        if action not in ACTIONS:
            yield _error(
                "E150",
                f"AUDIT.EXCLUDE contains {action!r}, which is not an action.",
                "List whole actions, such as 'auth.token.refreshed'.",
            )


def _retention() -> Iterator[checks.CheckMessage]:
    for prefix, kept in conf.retention.items():
        if not any(action.startswith(prefix) for action in ACTIONS if isinstance(prefix, str)):
            yield _error(
                "E151",
                f"AUDIT.RETENTION contains {prefix!r}, but no action starts with it.",
                "Use prefixes such as 'auth.login.', or whole actions.",
            )
        try:
            retention.duration(kept)
        except TypeError as wrong:
            yield _error(
                "E152",
                f"AUDIT.RETENTION[{prefix!r}] must be {wrong}.",
                "Give a timedelta, or None to keep the entries permanently.",
            )


def _limit() -> Iterator[checks.CheckMessage]:
    if conf.cleanup_limit < 1:
        yield _error("E153", "AUDIT.CLEANUP_LIMIT must be at least 1.", "The default is 100,000.")


def _database() -> Iterator[checks.CheckMessage]:
    if router.db_for_write(Entry) != databases.primary():
        yield _error(
            "E154",
            "The audit log is not in the database of the accounts.",
            "Route 'authservice_audit' to the database of 'authservice_core': each entry is written"
            " in the transaction of its action.",
        )


def _error(id_: str, text: str, hint: str) -> checks.CheckMessage:
    return checks.Error(f"AUTHSERVICE: {text}", hint=hint, id=f"authservice.{id_}")
