"""Make the database abort one statement, as it does to resolve a deadlock."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import OperationalError, connections

from authservice.kernel import databases


@contextmanager
def one_deadlock(start: str) -> Iterator[list[str]]:
    """The first statement that starts with *start* fails, in the database of the users; yields the
    list that it is added to."""
    aborted: list[str] = []

    def abort(execute: Any, sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        if sql.startswith(start) and not aborted:
            aborted.append(sql)
            raise OperationalError(1213, "Deadlock found when trying to get lock")
        return execute(sql, params, many, context)

    with connections[databases.primary()].execute_wrapper(abort):
        yield aborted
