"""Tokens of authservice for httpx, in threads and in asyncio.

    auth = AuthserviceAuth("https://api.example.com/auth")
    with httpx.Client(auth=auth) as client:
        auth.log_in(email="ann@example.com", password="…")
        client.get("https://api.example.com/auth/me")

An access token that has expired is refreshed, and the request is sent again, once. However many
threads or tasks find it expired, one of them refreshes.
"""

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, Generator
from typing import Any

import httpx


class SignedOut(Exception):
    """There is no valid session any more: log in again."""


class AuthserviceAuth(httpx.Auth):
    def __init__(self, url: str, tokens: dict[str, str] | None = None) -> None:
        self.url = url.rstrip("/")
        self.tokens = tokens
        self._origin = _origin(httpx.URL(url))
        self._lock = threading.Lock()
        self._async_lock = asyncio.Lock()

    def log_in(self, **credentials: str) -> dict[str, Any]:
        """Log in; the result says in `status` whether a challenge has to be completed first.

        Raises `httpx.HTTPStatusError` if the service refuses.
        """
        return self.sign_in("login", **credentials)

    def sign_in(self, route: str, **body: str) -> dict[str, Any]:
        """Send a request that may sign in, such as `2fa/verify-login` with `temp_token` and
        `code`."""
        response = httpx.post(f"{self.url}/{route}", json=body)
        response.raise_for_status()
        data: dict[str, Any] = response.json()["data"]
        if data["status"] == "signed_in":
            self.tokens = data
        return data

    def sync_auth_flow(
        self, request: httpx.Request
    ) -> Generator[httpx.Request, httpx.Response, None]:
        used = self._add_token(request)
        response = yield request
        if response.status_code != 401 or not _expired(response.read()):
            return
        with self._lock:
            if self.tokens is used:
                refreshed = yield self._refresh()
                self._keep(refreshed, refreshed.read())
        self._add_token(request)
        yield request

    async def async_auth_flow(
        self, request: httpx.Request
    ) -> AsyncGenerator[httpx.Request, httpx.Response]:
        used = self._add_token(request)
        response = yield request
        if response.status_code != 401 or not _expired(await response.aread()):
            return
        async with self._async_lock:
            if self.tokens is used:
                refreshed = yield self._refresh()
                self._keep(refreshed, await refreshed.aread())
        self._add_token(request)
        yield request

    def _add_token(self, request: httpx.Request) -> dict[str, str]:
        # Another host must not get the token, even if the client is asked to call it.
        if _origin(request.url) != self._origin:
            raise ValueError(f"{request.url.host} may not get tokens of {self.url}")
        tokens = self.tokens
        if tokens is None:
            raise SignedOut
        request.headers["Authorization"] = f"Bearer {tokens['access_token']}"
        return tokens

    def _refresh(self) -> httpx.Request:
        if self.tokens is None:
            raise SignedOut
        body = {"refresh_token": self.tokens["refresh_token"]}
        return httpx.Request("POST", f"{self.url}/refresh", json=body)

    def _keep(self, response: httpx.Response, body: bytes) -> None:
        if _code(body) == "INVALID_REFRESH_TOKEN":
            self.tokens = None
            raise SignedOut
        # After any other failure, such as 503, the tokens are still valid.
        response.raise_for_status()
        self.tokens = json.loads(body)["data"]


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _expired(body: bytes) -> bool:
    return _code(body) in ("TOKEN_EXPIRED", "INVALID_TOKEN")


def _code(body: bytes) -> str:
    """The error code of a response, "" if it has none."""
    try:
        return str(json.loads(body)["data"]["code"])
    except (ValueError, KeyError, TypeError):
        return ""
