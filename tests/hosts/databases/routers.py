from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse

_in_request: ContextVar[bool] = ContextVar("in_request", default=False)


class SeparateDatabases:
    """Users and authservice are on `people`, all other tables on `default`."""

    def db_for_read(self, model: Any, **_: Any) -> str:
        return self._home(model._meta.app_label)

    db_for_write = db_for_read

    def allow_migrate(self, db: str, app_label: str, **_: Any) -> bool:
        return db == self._home(app_label)

    def _home(self, label: str) -> str:
        users = settings.AUTH_USER_MODEL.partition(".")[0]
        ours = label in (users, "auth", "contenttypes") or label.startswith("authservice_")
        return "people" if ours else "default"


class EmptyReplica:
    """Reads during a request use a replica that has received no rows."""

    def db_for_read(self, model: Any, **_: Any) -> str:
        return "replica" if _in_request.get() else "default"

    def db_for_write(self, model: Any, **_: Any) -> str:
        return "default"

    def allow_relation(self, one: Any, other: Any, **_: Any) -> bool:
        return True


class Request:
    """Tells the router whether a request is being processed."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        token = _in_request.set(True)
        try:
            return self._get_response(request)
        finally:
            _in_request.reset(token)
