"""The front ends of the project, and what they hold between the stages."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

from django.test import Client

from authservice.csrf import guard
from tests.support.client import PASSWORD

STORE = Path(os.environ["HELD"])  # what the front ends hold, as JSON
OLD_ROUTES = {
    "rest_auth": ("/old/login/", "/old/token/refresh/"),
    "djoser": ("/old/jwt/create/", "/old/jwt/refresh/"),
}
LOGIN, REFRESH = OLD_ROUTES.get(os.environ["OLD"], ("", ""))

_client = Client()


@cache
def _csrf_token() -> str:
    return guard.issue()


def send(path: str, body: Any, cookies: dict[str, str] | None = None) -> Any:
    """The response to a POST with a CSRF pair and these cookies."""
    token = _csrf_token()
    sent = {**(cookies or {}), "__service_csrf": token}
    text = "; ".join(f"{name}={value}" for name, value in sent.items())
    _client.cookies.clear()
    headers = {"X-CSRF-Token": token, "Cookie": text}
    return _client.post(path, json.dumps(body), content_type="application/json", headers=headers)


def put(path: str, body: Any, access: str) -> Any:
    """The response to a PUT by the user of an access token."""
    headers = {"X-CSRF-Token": _csrf_token(), "Authorization": f"Bearer {access}"}
    _client.cookies.clear()
    _client.cookies["__service_csrf"] = _csrf_token()
    return _client.put(path, json.dumps(body), content_type="application/json", headers=headers)


def expect(path: str, body: Any, cookies: dict[str, str] | None = None) -> dict[str, Any]:
    """The JSON of a successful response."""
    response = send(path, body, cookies)
    assert response.status_code == 200, (path, response.content)
    parsed: dict[str, Any] = json.loads(response.content)
    return parsed.get("data", parsed)


def old_login(name: str) -> dict[str, Any]:
    return expect(LOGIN, {"username": name, "password": PASSWORD})


def challenge(name: str) -> str:
    """The `temp_token` of a login of a user with a second factor."""
    challenged = expect("/auth/login", {"username": name, "password": PASSWORD})
    [asked] = challenged["challenges"]
    return asked["data"]["temp_token"]


def answer(name: str, code: str) -> Any:
    """The response to a login with a code of the second factor."""
    return send("/auth/2fa/verify-login", {"temp_token": challenge(name), "code": code})


def log_in(name: str, code: str) -> dict[str, Any]:
    """The tokens of a login with the second factor that the user had before the move."""
    response = answer(name, code)
    assert response.status_code == 200, response.content
    data: dict[str, Any] = response.json()["data"]
    assert user_of(data["access_token"]) == data["user"]["id"]
    return data


def user_of(access: str) -> str:
    """The user whom a view of the project sees."""
    response = Client().get("/mine/", headers={"Authorization": f"Bearer {access}"})
    assert response.status_code == 200, response.content
    return json.loads(response.content)["user"]


def is_refused(access: str) -> bool:
    response = Client().get("/mine/", headers={"Authorization": f"Bearer {access}"})
    return response.status_code == 401


def keep(held: Any) -> None:
    STORE.write_text(json.dumps(held))


def held() -> Any:
    return json.loads(STORE.read_text())
