"""A provider on loopback that answers in the shape of a named one, and checks what it is sent.

The client id and secret, the redirect address, the code and the code verifier are checked as a
provider must, so a flow that sends a wrong one fails here.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from tests.support.serving import running

CLIENT_ID = "client-1"
CLIENT_SECRET = "secret of client 1"
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
KID = "key-1"


def jwk_of(key: Any, **members: Any) -> dict[str, Any]:
    return {**RSAAlgorithm.to_jwk(key.public_key(), as_dict=True), "use": "sig", **members}


class StandIn:
    """`answers` has the JSON of each path (or a tuple of status and JSON); `claims` are those of
    the ID token, which is left out if they are None; `tokens` are members of the answer of the
    token endpoint."""

    def __init__(self) -> None:
        self.url = ""
        self.answers: dict[str, Any] = {"/keys": {"keys": [jwk_of(KEY, kid=KID, alg="RS256")]}}
        self.claims: dict[str, Any] | None = None
        self.tokens: dict[str, Any] = {"token_type": "Bearer", "expires_in": 3600}
        self.requests: list[tuple[str, str, dict[str, str], dict[str, str]]] = []
        self.headers: dict[str, str] = {}
        self.authorizations: dict[str, dict[str, str]] = {}
        self.signed_with: tuple[Any, str, dict[str, Any]] = (KEY, "RS256", {"kid": KID})

    def settings(self, **more: Any) -> dict[str, Any]:
        """Settings of a provider that lead here instead of to the real one."""
        return {
            "CLIENT_ID": CLIENT_ID,
            "CLIENT_SECRET": CLIENT_SECRET,
            "AUTHORIZATION_URL": f"{self.url}/authorize",
            "TOKEN_URL": f"{self.url}/token",
            "USERINFO_URL": f"{self.url}/user",
            **more,
        }

    def openid_settings(self, **more: Any) -> dict[str, Any]:
        return self.settings(ISSUER=self.url, JWKS_URL=f"{self.url}/keys", **more)

    def discover(self, **more: Any) -> None:
        """Publish metadata, for clients that know the issuer alone."""
        self.answers["/.well-known/openid-configuration"] = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "userinfo_endpoint": f"{self.url}/user",
            "jwks_uri": f"{self.url}/keys",
            **more,
        }

    def approve(self, authorization_url: str) -> dict[str, str]:
        """The user approves at the consent screen: the parameters of the callback."""
        asked = dict(parse_qsl(urlsplit(authorization_url).query))
        code = secrets.token_urlsafe(16)
        self.authorizations[code] = asked
        return {"code": code, "state": asked["state"]}

    def id_token(self, **claims: Any) -> str:
        """An ID token of this provider; a claim of None is left out, a duration counts from now."""
        now = int(time.time())
        content = {
            "iss": self.url,
            "sub": "subject-1",
            "aud": CLIENT_ID,
            "iat": now,
            "exp": now + 300,
            **(self.claims or {}),
            **claims,
        }
        key, algorithm, headers = self.signed_with
        content = {
            name: now + int(value.total_seconds()) if isinstance(value, timedelta) else value
            for name, value in content.items()
            if value is not None
        }
        return jwt.encode(content, key, algorithm=algorithm, headers=headers)

    def asked(self, path: str) -> list[dict[str, str]]:
        """The forms or queries of the requests to a path."""
        return [sent for _, asked, _, sent in self.requests if asked == path]

    def answer(self, method: str, path: str, headers: dict[str, str], sent: dict[str, str]) -> Any:
        self.requests.append((method, path, headers, sent))
        if path == "/token" and path not in self.answers:
            return self._grant(headers, sent)
        found = self.answers.get(path, (404, {"error": "not found"}))
        return found if isinstance(found, tuple) else (200, found)

    def _grant(self, headers: dict[str, str], form: dict[str, str]) -> tuple[int, Any]:
        if self._credentials(headers, form) != (CLIENT_ID, CLIENT_SECRET):
            return 401, {"error": "invalid_client"}
        if form["grant_type"] == "refresh_token":
            return 200, {**self.tokens, "access_token": f"new for {form['refresh_token']}"}
        asked = self.authorizations.pop(form["code"], None)
        if asked is None or form["redirect_uri"] != asked["redirect_uri"]:
            return 400, {"error": "invalid_grant"}
        if not _verifies(asked.get("code_challenge"), form.get("code_verifier")):
            return 400, {"error": "invalid_grant"}
        answer = {**self.tokens, "access_token": "access-1", "refresh_token": "refresh-1"}
        if self.claims is not None:
            answer["id_token"] = self.id_token(**{"nonce": asked.get("nonce"), **self.claims})
        return 200, answer

    def _credentials(self, headers: dict[str, str], form: dict[str, str]) -> Any:
        kind, _, encoded = headers.get("Authorization", "").partition(" ")
        if kind != "Basic":
            return form.get("client_id"), form.get("client_secret")
        pair = base64.b64decode(encoded).decode().partition(":")
        return tuple(dict(parse_qsl(f"v={part}"))["v"] for part in (pair[0], pair[2]))


def _verifies(challenge: str | None, verifier: str | None) -> bool:
    if challenge is None or verifier is None:
        return challenge is verifier
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == challenge


@contextmanager
def stand_in() -> Iterator[StandIn]:
    provider = StandIn()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            sent = dict(parse_qsl(body or parts.query, keep_blank_values=True))
            answer = provider.answer(self.command, parts.path, dict(self.headers), sent)
            content = answer[1] if isinstance(answer[1], bytes) else json.dumps(answer[1]).encode()
            self.send_response(answer[0])
            for name, value in {**provider.headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST  # noqa: N815

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.url = f"http://127.0.0.1:{server.server_address[1]}"
    with running(server):
        yield provider
