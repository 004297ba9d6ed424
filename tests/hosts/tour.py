"""Sends a fixed list of requests and prints the responses; `python -m tests.hosts.tour`."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

# Values that differ between runs, replaced by their kind.
_MASKS = [
    (re.compile(pattern), mask)
    for pattern, mask in [
        (r'"access_token":"[\w-]+\.[\w-]+\.[\w-]+"', '"access_token":"<jwt>"'),
        (r'"refresh_token": ?"[\w-]{70,90}"', '"refresh_token":"<token>"'),
        (r'"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"', '"<time>"'),
        (r'"id":"\d+"', '"id":"<id>"'),
        (r"^[0-9a-f]{32}$", "<request id>"),
        (r"^[\w-]{40,}:[\w-]{43}$", "<device token>"),
        (r"authservice_device=[\w:-]+", "authservice_device=<device token>"),
        (r"expires=[^;]+", "expires=<date>"),
    ]
]

# Headers that middleware of the host adds to every response.
_OF_HOSTS = {
    "Content-Language",
    "Cross-Origin-Opener-Policy",
    "Referrer-Policy",
    "Vary",
    "X-Content-Type-Options",
    "X-Frame-Options",
}
_PASSWORD = "plum tart 42 windows"
_ANN = {"email": "Ann@Example.com", "password": _PASSWORD}
_BARE = {
    "GET": ["me", "me?format=xml", "me/", "nowhere", "signup", "", ".well-known/jwks.json"],
    "HEAD": ["me"],
    "OPTIONS": ["me", "login"],
    "DELETE": ["me"],
    "POST": ["nowhere/at/all", "logout"],
}
_BODIES = {
    "signup": [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b'{"email": NaN}',
        b"{}" + b" " * 65536,
        {"email": 7, "password": True},
        {"email": "no address", "password": _PASSWORD},
        {"email": "eve@example.com", "password": "1234567"},
        {"username": "e", "password": _PASSWORD},
        {**_ANN, "name": "a" * 256},
        {**_ANN, "phone_number": "030 1234"},
        _ANN,
    ],
    "login": [
        {"password": _PASSWORD},
        {**_ANN, "username": "ann"},
        {**_ANN, "password": "wrong"},
        {**_ANN, "email": "nobody@example.com"},
    ],
    "refresh": [{}, {"refresh_token": None}, {"refresh_token": "no token"}],
}


class Recorder:
    """Sends requests like a browser and records the responses."""

    def __init__(self, language: str) -> None:
        from django.test import Client

        self._client = Client(enforce_csrf_checks=True, raise_request_exception=False)
        self._headers = {"Accept": "text/html, application/xml;q=0.9, */*;q=0.8; version=9"}
        if language:
            self._headers["Accept-Language"] = language
        self.responses: list[dict[str, Any]] = []

    def ask(self, method: str, path: str, body: Any = b"", token: str = "", **more: str) -> Any:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {**self._headers, **more.pop("headers", {})}
        if token:
            sent["Authorization"] = f"Bearer {token}"
        kind = more.get("content_type", "application/json")
        answer = self._client.generic(method, f"/auth/{path}", raw, kind, headers=sent)
        self.responses.append(
            {
                "request": f"{method} {path} {_masked(raw.decode(errors='replace'))[:80]}",
                "status": answer.status_code,
                "headers": _headers(answer),
                "body": _masked(answer.content.decode()),
            }
        )
        return json.loads(answer.content or b"{}").get("data")


def _headers(answer: Any) -> list[str]:
    pairs = [*answer.headers.items(), *((name, str(c)) for name, c in answer.cookies.items())]
    return sorted(f"{name}: {_masked(value)}" for name, value in pairs if name not in _OF_HOSTS)


def _masked(text: str) -> str:
    for pattern, mask in _MASKS:
        text = pattern.sub(mask, text)
    return text


def send_all(recorder: Recorder) -> None:
    ask = recorder.ask
    ann = ask("POST", "signup", {**_ANN, "name": "Ånn Žižková", "first_name": "Ann"})
    for method, path in _pairs(_BARE):
        ask(method, path)
    for path, body in _pairs(_BODIES):
        ask("POST", path, body)
    ask("POST", "signup", b"email=ann", content_type="application/x-www-form-urlencoded")
    ask("GET", "me", token=ann["access_token"])
    ask("GET", "me?format=api", token=ann["access_token"], headers={"X-Request-ID": "mine"})
    ask("GET", "me", token="no token")
    ask("GET", "me", headers={"Authorization": "JWT abc"})
    first = ask("POST", "login", {**_ANN, "email": "ann@example.com"})
    second = ask("POST", "refresh", {"refresh_token": first["refresh_token"]})
    ask("POST", "refresh", {"refresh_token": first["refresh_token"]})
    ask("POST", "logout", token=second["access_token"])
    ask("GET", "me", token=second["access_token"])
    ask("POST", "refresh", {"refresh_token": second["refresh_token"]})
    for _ in range(10):
        ask("POST", "login", {"username": "nobody", "password": "wrong"})


def _pairs(table: dict[str, list[Any]]) -> Iterator[tuple[str, Any]]:
    return ((key, entry) for key, entries in table.items() for entry in entries)


def main(*languages: str) -> None:
    """Print the responses in each language, one line for each language."""
    import django
    from django.conf import settings
    from django.core.cache import cache
    from django.core.management import call_command
    from django.test.utils import setup_databases, setup_test_environment, teardown_databases

    # From the models, which takes less time.
    settings.DATABASES["default"].setdefault("TEST", {})["MIGRATE"] = False
    django.setup()
    setup_test_environment()
    made = setup_databases(verbosity=0, interactive=False)
    try:
        for language in languages:
            # Each in a project without users, whose requests are not counted yet.
            call_command("flush", interactive=False, verbosity=0)
            cache.clear()
            recorder = Recorder(language)
            send_all(recorder)
            print(json.dumps(recorder.responses))
    finally:
        teardown_databases(made, verbosity=0)


if __name__ == "__main__":
    main(*sys.argv[1:])
