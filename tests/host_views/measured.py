"""The settings of a new project, with a database that its servers share, and a header that shows
the SQL statements of each request."""

from __future__ import annotations

import json
import os
from contextvars import ContextVar
from typing import Any

import environ
from asgiref.sync import iscoroutinefunction
from django.db.backends.signals import connection_created
from django.utils.decorators import sync_and_async_middleware
from site_.settings import *  # noqa: F403
from site_.settings import MIDDLEWARE as OWN

HEADER = "X-Statements"
DATABASES = {"default": environ.Env.db_url_config(os.environ["DATABASE_URL"])}
MIDDLEWARE = [f"{__name__}.measured", *OWN]

# Async requests share a thread and its connection, so each counts in its own context.
_statements: ContextVar[list[str] | None] = ContextVar("statements", default=None)


def _note(execute: Any, sql: str, *rest: Any) -> Any:
    noted = _statements.get()
    if noted is not None:
        noted.append(sql)
    return execute(sql, *rest)


def _watch(connection: Any, **_: Any) -> None:
    if _note not in connection.execute_wrappers:
        connection.execute_wrappers.append(_note)


connection_created.connect(_watch)


@sync_and_async_middleware
def measured(get_response: Any) -> Any:
    async def later(request: Any) -> Any:
        noted = _begin()
        return _shown(await get_response(request), noted)

    def now(request: Any) -> Any:
        noted = _begin()
        return _shown(get_response(request), noted)

    return later if iscoroutinefunction(get_response) else now


def _begin() -> list[str]:
    noted: list[str] = []
    _statements.set(noted)
    return noted


def _shown(response: Any, noted: list[str]) -> Any:
    response.headers[HEADER] = json.dumps(noted)
    return response
