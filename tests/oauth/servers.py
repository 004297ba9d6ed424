"""OpenID providers for the tests: real ones on loopback."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from subprocess import DEVNULL, PIPE, Popen
from typing import Any
from urllib.error import HTTPError
from urllib.parse import parse_qsl, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

import pytest


class NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


_browser = build_opener(NoRedirects)


@dataclass(frozen=True)
class RegisteredClient:
    client_id: str
    client_secret: str


class OpenIDServer:
    """An OpenID provider that checks client id, secret, redirect address and nonce.

    `issuer` is `http://localhost:<port>`, so `OUTBOUND` must allow `localhost` by name.
    """

    def __init__(self, issuer: str) -> None:
        self.issuer = issuer

    def register(self, redirect_uri: str, **options: str) -> RegisteredClient:
        """A new client, which authenticates by HTTP Basic unless `options` say otherwise."""
        answer = self._send("POST", "/oauth2/clients", {"redirect_uris": [redirect_uri], **options})
        return RegisteredClient(answer["client_id"], answer["client_secret"])

    def settings(self, redirect_uri: str, **options: Any) -> dict[str, Any]:
        """Settings of a provider for a new client: `PROVIDERS={"oidc": server.settings(...)}`."""
        client = self.register(redirect_uri)
        return {
            "ISSUER": self.issuer,
            "CLIENT_ID": client.client_id,
            "CLIENT_SECRET": client.client_secret,
            **options,
        }

    def add_user(self, subject: str, **claims: Any) -> None:
        """Claims of a user, such as `email` and `email_verified`; replaces those from before."""
        self._send("PUT", f"/users/{subject}", claims)

    def approve(self, authorization_url: str, subject: str) -> str:
        """Log the user in at the consent screen and approve: the address redirected to."""
        return self._answer(authorization_url, sub=subject)

    def deny(self, authorization_url: str) -> str:
        """Refuse at the consent screen: the address redirected to."""
        return self._answer(authorization_url, action="deny")

    def revoke(self, subject: str) -> None:
        """Revoke all access and refresh tokens of the user."""
        self._send("POST", f"/users/{subject}/revoke-tokens", {})

    def _answer(self, address: str, **form: str) -> str:
        # urllib raises redirects that are not followed.
        with pytest.raises(HTTPError) as raised:
            _browser.open(Request(address, data=urlencode(form).encode(), method="POST"))
        with raised.value as answer:
            assert answer.status in (302, 303)
            return answer.headers["Location"]

    def _send(self, method: str, path: str, body: dict[str, Any]) -> Any:
        request = Request(
            self.issuer + path,
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
            method=method,
        )
        with _browser.open(request) as answer:
            return json.loads(answer.read() or b"null")


def parameters_of(address: str) -> dict[str, str]:
    """The query parameters of a URL."""
    return dict(parse_qsl(urlsplit(address).query))


@contextmanager
def openid_server() -> Iterator[OpenIDServer]:
    with in_process("tests.oauth.openid_process") as issuer:
        yield OpenIDServer(issuer)


@contextmanager
def in_process(module: str) -> Iterator[str]:
    """Run a provider in a process of its own; yields its issuer. The module prints its port, and
    ends when its standard input is closed."""
    command = [sys.executable, "-W", "ignore", "-m", module]
    with Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, text=True) as process:
        yield f"http://localhost:{int(process.stdout.readline())}"
        process.stdin.close()
