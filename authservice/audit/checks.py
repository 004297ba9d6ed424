"""System checks: settings that keep entries too briefly, too long, or in another database."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.core.checks import CheckMessage, register
from django.db import router

from authservice.audit import retention
from authservice.audit.conf import conf
from authservice.audit.models import Entry
from authservice.kernel import databases
from authservice.kernel.actions import ACTIONS
from authservice.kernel.checks import message
from authservice.kernel.settings import complaints


def connect() -> None:
    register(check_audit, "authservice")


def check_audit(**_: Any) -> list[CheckMessage]:
    # Core's own check reports wrong keys and types; until they are fixed the settings cannot be
    # read.
    if not apps.is_installed("authservice.audit") or list(complaints()):
        return []
    return [*_excluded(), *_retention(), *_limit(), *_database()]


def _excluded() -> Iterator[CheckMessage]:
    for action in conf.exclude:
        if action not in ACTIONS:
            text = f"AUDIT.EXCLUDE contains {action!r}, which is not an action."
            yield message("authservice.E150", text)


def _retention() -> Iterator[CheckMessage]:
    for prefix, kept in conf.retention.items():
        if not any(action.startswith(prefix) for action in ACTIONS if isinstance(prefix, str)):
            text = f"AUDIT.RETENTION contains {prefix!r}, but no action starts with it."
            yield message("authservice.E151", text)
        try:
            retention.duration(kept)
        except TypeError as wrong:
            text = f"AUDIT.RETENTION[{prefix!r}] must be {wrong}."
            yield message("authservice.E152", text)


def _limit() -> Iterator[CheckMessage]:
    if conf.cleanup_limit < 1:
        yield message("authservice.E153")


def _database() -> Iterator[CheckMessage]:
    if router.db_for_write(Entry) != databases.primary():
        yield message("authservice.E154")
