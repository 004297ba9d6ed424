"""A browser reduced to cookies and headers: it keeps the cookies of responses and sends them."""

from __future__ import annotations

import json
from typing import Any

from django.test import Client

from tests.support.client import BASE, PASSWORD, Answer

NAME = "__service_csrf"
ACCESS, REFRESH = "authservice_access", "authservice_refresh"


class Visitor:
    """`token` is sent in the header: the last one fetched, unless a test sets another."""

    def __init__(self) -> None:
        self.client = Client()
        self.token = ""

    def fetch_token(self) -> str:
        answer = Answer(self.client.get(BASE + "csrf-token"))
        assert answer.status == 200, answer.body
        self.token = answer.data["csrf_token"]
        return self.token

    def cookie(self, name: str) -> str:
        return self.client.cookies[name].value if name in self.client.cookies else ""

    def plant(self, name: str, value: str) -> None:
        self.client.cookies[name] = value

    def ask(
        self, method: str, path: str, body: Any = None, *, bearer: str = "", **headers: str
    ) -> Answer:
        """`headers` by their names with underscores; `token` is sent unless it is empty."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token:
            sent["X-CSRF-Token"] = self.token
        if bearer:
            sent["Authorization"] = f"Bearer {bearer}"
        return Answer(
            self.client.generic(
                method,
                path if path.startswith("/") else BASE + path,
                json.dumps(body or {}),
                content_type="application/json",
                headers=sent,
            )
        )

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Answer:
        return self.ask("POST", path, body, **headers)

    def sign_up(self, email: str = "ann@example.com") -> Any:
        answer = self.post("signup", {"email": email, "password": PASSWORD})
        assert answer.status == 201, answer.body
        return answer.data
