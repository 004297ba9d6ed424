"""The SQL that a call costs, where the people are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import connections

from authservice.core import directory

_TRANSACTION = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE", "ROLLBACK")


def statements(call: Callable[[], object]) -> list[str]:
    """In order, without their values; beginnings and ends of transactions left out."""
    texts = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        texts.append(sql)
        return execute(sql, params, many, context)

    with connections[directory.database()].execute_wrapper(note):
        call()
    return [text for text in texts if not text.startswith(_TRANSACTION)]
