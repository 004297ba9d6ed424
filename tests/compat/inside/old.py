"""A client that was written for simplejwt."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
from django.conf import settings
from django.test import Client

from tests.support.client import PASSWORD

OURS, THEIRS = "/api/", "/old/"


@dataclass
class Reply:
    """A parsed response."""

    response: Any

    @property
    def status(self) -> int:
        return self.response.status_code

    @property
    def body(self) -> Any:
        return json.loads(self.response.content)

    @property
    def code(self) -> str:
        return self.body.get("code", "")


class OldClient:
    """`OldClient(OURS).obtain()`; `mount` is where the routes of simplejwt are."""

    def __init__(self, mount: str = OURS) -> None:
        self._mount = mount
        self._client = Client(raise_request_exception=False)

    def send(self, method: str, path: str, body: Any, *, form: bool = False, **meta: Any) -> Reply:
        kind = "application/x-www-form-urlencoded" if form else "application/json"
        raw = body if isinstance(body, str) else json.dumps(body)
        return Reply(self._client.generic(method, self._mount + path, raw, kind, **meta))

    def obtain(self, username: str = "ann", password: str = PASSWORD, **meta: Any) -> Reply:
        return self.send("POST", "token/", {"username": username, "password": password}, **meta)

    def refresh(self, token: str, **meta: Any) -> Reply:
        return self.send("POST", "token/refresh/", {"refresh": token}, **meta)

    def verify(self, token: str) -> Reply:
        return self.send("POST", "token/verify/", {"token": token})

    def blacklist(self, token: str) -> Reply:
        return self.send("POST", "token/blacklist/", {"refresh": token})


def refresh(api, text):
    return api.post("refresh", refresh_token=str(text))


def signed(**claims):
    """A token that an attacker signs with the key of simplejwt."""
    now = datetime.now(UTC)
    base = {
        "token_type": "refresh",
        "jti": "0" * 32,
        "iat": int(now.timestamp()),
        "exp": int((now + timedelta(days=1)).timestamp()),
    }
    return jwt.encode(base | claims, settings.SECRET_KEY, algorithm="HS256")


def claims_of(text):
    return jwt.decode(text, options={"verify_signature": False})
