"""``python -m tests.trace``: the number of files and calls of authservice that a request uses.

Traces five requests in the host of the tests, on an SQLite file. Each is traced at its third run,
when caches are filled. ``--list`` also prints the calls per file.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from itertools import count, cycle
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

import django
import pyotp
import time_machine
from django.conf import settings
from django.core.management import call_command
from django.test import Client, override_settings

Send = Callable[[], object]
PASSWORD = "plum tart 42 windows"
# The decorators that check where a function is called.
ASSERTIONS = ("kernel/databases.py", ("call", "is_transaction_open"))
SOURCES = str(Path(__file__).parents[1] / "authservice") + os.sep


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DATABASE_URL"] = f"sqlite:///{folder}/trace.sqlite3"
        os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
        os.environ.pop("TEST_HOST", None)
        os.environ["AUTHSERVICE_CHECK_TRANSACTIONS"] = ""  # a check is a call of its own
        django.setup()
        call_command("migrate", verbosity=0)
        for name, request in REQUESTS.items():
            with request() as send:
                calls = warm(send)
            print(f"{len(calls):3} files {calls.total():4} calls: {name}")
            if "--list" in sys.argv:
                for file, number in calls.most_common():
                    print(f"  {number:4} {file}")
    return 0


@contextmanager
def me() -> Iterator[Send]:
    token = sign_up("ann@example.com")
    yield lambda: ask("GET", "me", token=token)


@contextmanager
def login() -> Iterator[Send]:
    """A login consists of two requests."""
    # It receives the signal of a login, in a project that uses it in its views.
    import_module("authservice.core.api.identity")
    token = sign_up("bob@example.com")
    app = pyotp.TOTP(ask("POST", "2fa/setup", {}, token=token)["secret"])
    ask("POST", "2fa/verify", {"code": app.now()}, token=token)
    steps = count(2)

    def send() -> None:
        # A code is valid once, so each login takes place 30 seconds later.
        with time_machine.travel(time.time() + 30 * next(steps)):
            first = ask("POST", "login", {"email": "bob@example.com", "password": PASSWORD})
            (challenge,) = first["challenges"]
            temp_token = challenge["data"]["temp_token"]
            ask("POST", "2fa/verify-login", {"temp_token": temp_token, "code": app.now()})

    yield send


@contextmanager
def callback() -> Iterator[Send]:
    """The provider is the one of the tests, whose own calls are not counted. No module has a second
    factor."""
    provider = import_module("tests.oauth.in_process")
    slots = import_module("tests.support.slots")
    profile = provider.Profile(subject="1", email="cat@example.com", email_verified=True)

    def approved() -> tuple[Client, str]:
        """A browser whose user has approved at the provider, and the address it comes back to."""
        browser = Client()
        consent = browser.get("/auth/oauth/acme")["Location"]
        back = urlsplit(provider.office.approve(consent, profile))
        return browser, f"{back.path}?{back.query}"

    def send() -> None:
        browser, address = browsers.pop()
        assert browser.get(address).status_code == 200

    with (
        configured(OAUTH={"PROVIDERS": {"acme": provider.SETTINGS}}),
        slots.asking(lambda arrival: None),
    ):
        # The first one signs the user up.
        browsers = [approved() for _ in range(4)]
        send()
        yield send


@contextmanager
def invitation() -> Iterator[Send]:
    mounted = import_module("tests.support.mounted").mounted
    with mounted("authservice.organization", "tests.support.messenger.apps.PostOffice"):
        call_command("migrate", verbosity=0)
        token = sign_up("dora@example.com")
        acme = ask("POST", "org", {"name": "Acme"}, token=token)["id"]
        guests = (f"guest{number}@example.com" for number in count())
        yield lambda: ask("POST", f"org/{acme}/invite", {"email": next(guests)}, token=token)


@contextmanager
def change() -> Iterator[Send]:
    """The third run is one that deactivates the user, who has the most to lose."""
    token, ed = sign_up("root@example.com"), sign_up("ed@example.com")
    ed_id = ask("GET", "me", token=ed)["id"]
    accounts = import_module("authservice.core.models").Account.objects
    accounts.filter(email="root@example.com").update(is_super_admin=True)
    names = cycle(["Ed", "Eddie"])
    active = cycle([False, True])

    def send() -> None:
        body = {"name": next(names), "active": next(active)}
        ask("PUT", f"admin/users/{ed_id}", body, token=token)

    yield send


REQUESTS: dict[str, Callable[[], AbstractContextManager[Send]]] = {
    "GET /me": me,
    "login with a second factor": login,
    "callback of a returning user": callback,
    "invitation to an organization": invitation,
    "PUT /admin/users/{id}": change,
}


@contextmanager
def configured(**sections: object) -> Iterator[None]:
    with override_settings(AUTHSERVICE={**settings.AUTHSERVICE, **sections}):
        yield


def sign_up(email: str) -> str:
    """Sign up a new user; returns the access token."""
    return ask("POST", "signup", {"email": email, "password": PASSWORD})["access_token"]


def ask(method: str, path: str, body: dict[str, object] | None = None, *, token: str = "") -> Any:
    """`data` of the response."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    raw = json.dumps(body) if body is not None else ""
    answer = Client(headers=headers).generic(
        method, f"/auth/{path}", raw, content_type="application/json"
    )
    assert answer.status_code in (200, 201), answer.content
    return answer.json()["data"]


def warm(request: Callable[[], object]) -> Counter[str]:
    """The calls of the third run, when caches are filled."""
    request()
    request()
    return traced(request)


def traced(request: Callable[[], object]) -> Counter[str]:
    """Calls of authservice by file, without comprehensions, lambdas, class bodies, and what only
    runs under test."""
    calls: Counter[str] = Counter()

    def profile(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(SOURCES) and code.co_name[0] != "<":
            file = code.co_filename.removeprefix(SOURCES)
            if file != ASSERTIONS[0] or code.co_name not in ASSERTIONS[1]:
                calls[file] += 1

    sys.setprofile(profile)
    try:
        request()
    finally:
        sys.setprofile(None)
    return calls


if __name__ == "__main__":
    sys.exit(main())
