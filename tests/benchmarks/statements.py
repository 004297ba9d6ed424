"""Count the SQL statements of each request; runs inside one side's environment."""

import json
import sys
from collections.abc import Callable, Iterator
from uuid import uuid4

import django
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.benchmarks import wires

TRANSACTION_WORDS = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE", "ROLLBACK")


def main() -> None:
    django.setup()
    wire = wires.BY_NAME[sys.argv[1]]
    executed = {name: statements(call) for name, call in calls(wire).items()}
    if "--show" in sys.argv:
        for name, texts in executed.items():
            print(name, *texts, sep="\n    ", file=sys.stderr)
    print(json.dumps({name: len(texts) for name, texts in executed.items()}))


def statements(call: Callable[[], HttpResponse]) -> list[str]:
    """The statements of the second request; the first one fills process-wide caches."""
    call()
    with CaptureQueriesContext(connection) as captured:
        call()
    texts = [query["sql"] for query in captured.captured_queries]
    return [text for text in texts if not text.startswith(TRANSACTION_WORDS)]


def calls(wire: wires.Wire) -> dict[str, Callable[[], HttpResponse]]:
    tokens = post(wire.login, wire.login_as(1)).content.decode()
    access = wires.token_in(tokens, wire.access_name)
    refreshed = refreshes(wire, wires.token_in(tokens, wire.refresh_name))
    return {
        "me": lambda: get(wire.me, access),
        "login": lambda: post(wire.login, wire.login_as(2)),
        "refresh": lambda: next(refreshed),
        "signup": lambda: post(wire.signup, wire.signup_body % f"{uuid4().hex}@bench.example.com"),
    }


def refreshes(wire: wires.Wire, token: str) -> Iterator[HttpResponse]:
    """Each step uses the token that the previous step returned."""
    while True:
        answer = post(wire.refresh, wire.refresh_body % token)
        token = wires.token_in(answer.content.decode(), wire.refresh_name)
        yield answer


def get(path: str, access: str) -> HttpResponse:
    return accepted(Client().get(path, headers={"Authorization": f"Bearer {access}"}))


def post(path: str, body: str) -> HttpResponse:
    return accepted(Client().post(path, body, content_type="application/json"))


def accepted(answer: HttpResponse) -> HttpResponse:
    if answer.status_code not in {200, 201}:
        raise RuntimeError(f"{answer.status_code}: {answer.content[:300]!r}")
    return answer


if __name__ == "__main__":
    main()
