"""A small API client for tests, so that a test reads like the request it makes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from django.apps import apps
from django.conf import settings
from django.http import HttpResponse
from django.test import Client

from authservice.kernel.secret import Secret
from tests.support import described

BASE = "/auth/"
PASSWORD = "plum tart 42 windows"


@dataclass
class Answer:
    """A parsed response: `data` of the envelope, `code` of the error."""

    response: HttpResponse

    @property
    def status(self) -> int:
        return self.response.status_code

    @property
    def body(self) -> dict[str, Any]:
        return json.loads(self.response.content)

    @property
    def data(self) -> Any:
        return self.body["data"]

    @property
    def code(self) -> str:
        return self.data["code"]

    @property
    def error(self) -> tuple[int, str]:
        """Status and error code; the code is empty for a success."""
        return self.status, (self.data or {}).get("code", "")

    @property
    def headers(self) -> dict[str, str]:
        return self.response.headers


def _json(body: Any) -> str:
    # Code under test hands secrets to tests as `Secret` objects.
    return json.dumps(body, default=Secret.reveal)


def _whole(streamed: Any) -> Any:
    """A streamed response, read to its end."""
    whole: Any = HttpResponse(streamed.getvalue(), status=streamed.status_code)
    whole.headers = streamed.headers
    whole.wsgi_request = streamed.wsgi_request
    return whole


def csrf_pair(headers: dict[str, str]) -> dict[str, str]:
    """`headers` plus the CSRF pair that state-changing requests need if csrf is installed."""
    if not apps.is_installed("authservice.csrf"):
        return headers
    token = import_module("authservice.csrf.guard").issue()
    name = import_module("authservice.kernel.http.envelope").cookie_name("__service_csrf")
    cookies = [headers.get("Cookie", ""), f"{name}={token}"]
    return {"X-CSRF-Token": token, **headers, "Cookie": "; ".join(filter(None, cookies))}


class Api:
    """`api.post("login", email=…, password=…)`; keyword arguments are the JSON body.

    Requests are independent: the client does not send back cookies that a response sets. It sends a
    CSRF pair if the csrf module is installed, unless `paired` is False.
    """

    _loaded: tuple[Any, Any] = (None, None)

    def __init__(self, *, raising: bool = True, paired: bool = True) -> None:
        self.raising = raising
        self.paired = paired

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        token: str = "",
        content_type: str = "application/json",
        headers: dict[str, str] | None = None,
        **meta: Any,
    ) -> Answer:
        raw = body if isinstance(body, bytes | str) else b"" if body is None else _json(body)
        sent = {"Authorization": f"Bearer {token}"} if token else {}
        sent.update(headers or {})
        client = Client(raise_request_exception=self.raising)
        # As a server does, load the middleware once, unless a test has changed a setting since.
        loaded, of = self._loaded
        if of is settings._wrapped:
            client.handler = loaded
        response = client.generic(
            method,
            BASE + path,
            raw,
            content_type=content_type,
            headers=csrf_pair(sent) if self.paired else sent,
            **meta,
        )
        self._loaded = client.handler, settings._wrapped
        if response.streaming:
            response = _whole(response)
        described.check(method, response.wsgi_request.path_info, response)
        return Answer(response)

    def get(self, path: str, *, token: str = "", headers: Any = None) -> Answer:
        return self.request("GET", path, token=token, headers=headers)

    def post(self, path: str, *, token: str = "", headers: Any = None, **body: Any) -> Answer:
        return self.request("POST", path, body, token=token, headers=headers)

    def sign_up(self, email: str = "ann@example.com", **more: Any) -> Any:
        """`data` of a sign-up of a new user."""
        answer = self.post("signup", **{"email": email, "password": PASSWORD, **more})
        assert answer.status == 201, answer.body
        return answer.data

    def log_in(self, email: str = "ann@example.com", **more: Any) -> Any:
        """`data` of a successful login."""
        answer = self.post("login", **{"email": email, "password": PASSWORD, **more})
        assert answer.status == 200, answer.body
        return answer.data
