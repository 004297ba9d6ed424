"""Run in a new project: its views of every kind refuse ended sessions.

Prints a line for each view, handler and kind of token that was tried.
"""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import django
from asgiref.sync import async_to_sync

VIEWS = ("/rest", "/plain", "/later", "/api/invoices", "/api/export")
ANN = {"email": "ann@example.com", "password": "plum tart 42 windows"}


def main() -> None:
    django.setup()
    from django.core.management import call_command
    from django.test.utils import setup_test_environment

    call_command("check", fail_level="ERROR", stdout=StringIO())
    call_command("migrate", verbosity=0)
    setup_test_environment()
    call("signup", ANN)
    for handler in ("WSGI", "ASGI"):
        for kind in ("bearer", "cookie"):
            end_a_session(handler, kind)


def end_a_session(handler: str, kind: str) -> None:
    from django.test import Client

    browser = Client()
    tokens = call("login", ANN, browser)["data"]
    bearer = {"Authorization": f"Bearer {tokens['access_token']}"}
    asked = {"headers": bearer} if kind == "bearer" else {"cookies": browser.cookies}
    for view in VIEWS:
        assert get(view, handler).status_code == 401
        get(view, handler, **asked)  # compiles the statement
        answer, statements = counted(view, handler, **asked)
        assert (answer.status_code, answer.json()["email"]) == (200, ANN["email"]), answer.content
        assert len(statements) == 1, statements
    call("logout", {}, headers=bearer)
    for view in VIEWS:
        refused = get(view, handler, **asked)
        assert refused.status_code == 401, (view, handler, kind, refused.content)
        print(view, handler, kind)


def get(view: str, handler: str, *, headers: Any = None, cookies: Any = None) -> Any:
    from django.test import AsyncClient, Client

    client = Client() if handler == "WSGI" else AsyncClient()
    client.cookies = cookies or client.cookies
    asked = client.get if handler == "WSGI" else async_to_sync(client.get)
    return asked(view, headers=headers)


def call(path: str, body: Any, client: Any = None, headers: Any = None) -> Any:
    from django.test import Client

    client = client or Client()
    token = client.get("/auth/csrf-token").json()["data"]["csrf_token"]
    answer = client.post(
        f"/auth/{path}",
        json.dumps(body),
        content_type="application/json",
        headers={"X-CSRF-Token": token, **(headers or {})},
    )
    assert answer.status_code < 300, answer.content
    return answer.json()


def counted(view: str, handler: str, **asked: Any) -> tuple[Any, list[str]]:
    from django.db import connection

    texts: list[str] = []

    def note(execute: Any, sql: str, *rest: Any) -> Any:
        texts.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(note):
        return get(view, handler, **asked), texts


if __name__ == "__main__":
    main()
