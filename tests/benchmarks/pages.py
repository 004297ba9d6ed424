"""Compare the pages of the account with the calls of the API behind them: `python -m
tests.benchmarks.pages`. In one process, with Argon2id, on SQLite in memory or the database of
`DATABASE_URL`. Of the time of a page it also prints what Django's template engine took."""

from __future__ import annotations

import os
import re
import statistics
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import django
from django.conf import settings
from django.http import HttpResponse
from django.template import Template
from django.test import Client
from django.test.client import ClientHandler
from django.test.utils import setup_databases, setup_test_environment

FORM = "application/x-www-form-urlencoded"
JSON = {"content_type": "application/json"}
ACCEPT = {"Accept": "text/html"}
_answers: list[float] = []
"""Milliseconds of each request since the list was cleared."""
_rendered: list[float] = []
"""Milliseconds of each template that the current page has filled."""
PASSWORD = "correct horse battery 9"  # noqa: S105 of a user of this run
EMAIL = "ann@example.com"


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.pages.settings"
    django.setup()
    settings.AUTHSERVICE = {**settings.AUTHSERVICE, "THROTTLE": {"ENABLED": False}}
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
    setup_test_environment()
    setup_databases(verbosity=0, interactive=False)
    # What Django does for a request, without what the test client does.
    _time(ClientHandler, "__call__", _answers)
    _time(Template, "render", _rendered)
    api, browser = Client(), Client()
    token = _post(api, "signup").json()["data"]["access_token"]
    bearer = {"Authorization": f"Bearer {token}"}
    _form(browser, "login", identifier=EMAIL, password=PASSWORD)()

    def me() -> None:
        answer = api.get("/auth/me", headers=bearer)
        assert answer.status_code == 200, answer.content

    def profile() -> None:
        assert browser.get("/auth/account/profile", headers=ACCEPT).status_code == 200

    def login() -> None:
        answer = _post(Client(), "login")
        assert answer.status_code == 200, answer.content

    def forgot() -> None:
        assert _post(Client(), "forgot-password").status_code == 200

    def rename() -> None:
        answer = api.put("/auth/profile", {"name": "Ann"}, **JSON, headers=bearer)
        assert answer.status_code == 200, answer.content

    def sign_in() -> Callable[[], None]:
        return _form(Client(), "login", identifier=EMAIL, password=PASSWORD)

    print(f"{'':20}{'API':>10}{'page':>10}{'ratio':>8}{'template':>12}")
    _compare("a login", login, sign_in, 60)
    _compare(
        "a forgotten password", forgot, lambda: _form(Client(), "forgot-password", email=EMAIL), 300
    )
    _compare("a new name", rename, lambda: _form(browser, "account/profile/name", name="Ann"), 300)
    _compare("one's own profile", me, lambda: profile, 300)


def _compare(
    name: str, call: Callable[[], None], prepared: Callable[[], Callable[[], None]], times: int
) -> None:
    """Print the medians of both, in turn, without what prepares the page."""
    called, paged, rendered = [], [], []
    for _ in range(times):
        called.append(_answered(call))
        page = prepared()
        _rendered.clear()
        paged.append(_answered(page))
        rendered.append(sum(_rendered))
    api, page_, template = (
        statistics.median(values[times // 10 :]) for values in (called, paged, rendered)
    )
    print(f"{name:20}{api:>7.2f} ms{page_:>7.2f} ms{page_ / api:>8.2f}{template:>9.2f} ms")


def _answered(send: Callable[[], None]) -> float:
    _answers.clear()
    send()
    [milliseconds] = _answers
    return milliseconds


def _time(owner: type, method: str, times: list[float]) -> None:
    """Append to `times` how many milliseconds each call of a method takes."""
    call = getattr(owner, method)

    def timed(*args: Any) -> Any:
        begun = time.perf_counter()
        try:
            return call(*args)
        finally:
            times.append((time.perf_counter() - begun) * 1000)

    setattr(owner, method, timed)


def _post(client: Client, path: str) -> HttpResponse:
    body = {"email": EMAIL, "password": PASSWORD}
    return client.post(f"/auth/{path}", body, content_type="application/json")


def _form(browser: Client, path: str, **fields: str) -> Callable[[], None]:
    """Open a page with a form; returns what sends it."""
    html = browser.get(f"/auth/{path}", headers=ACCEPT).content.decode()
    token = re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', html)[-1]
    form = urlencode({"csrfmiddlewaretoken": token, **fields})

    def send() -> None:
        headers = {**ACCEPT, "Origin": "http://testserver"}
        answer = browser.post(f"/auth/{path}", form, content_type=FORM, headers=headers)
        assert answer.status_code in (200, 303), answer.content

    return send


if __name__ == "__main__":
    main()
