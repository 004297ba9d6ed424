"""The list of users, requested in every way that could be slow: its response time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any
from urllib.parse import urlencode

from django.db import connection
from django.test import Client

from tests.benchmarks import scale_seed as seed

ORDERS = tuple(product(("created_at", "email", "username", "name"), ("asc", "desc")))
SEARCHES = {"no search": "", "one hit": seed.ONE, "5 % everywhere": seed.EVERYWHERE}
# All at one end of an order, so that one of the two directions finds them last.
ENDS = {
    "5 %, the oldest": seed.OLDEST,
    "5 %, the newest": seed.NEWEST,
    "5 %, first by letters": seed.FIRST,
    "5 %, last by letters": seed.LAST,
}
_MIDDLE = (seed.BEGINNING + seed.SPAN / 2).isoformat()
_EARLY = (seed.BEGINNING + seed.SPAN / 20).isoformat()
FILTERS: tuple[dict[str, str], ...] = (
    {},
    {"active": "true"},
    {"active": "false"},
    {"email_verified": "true"},
    {"email_verified": "false"},
    {"is_super_admin": "true"},
    {"is_super_admin": "false"},
    {"created_after": _MIDDLE},
    {"created_before": _EARLY},
    {"last_login_before": _EARLY},
)
MAX_STATEMENTS = 3


@dataclass(frozen=True)
class Timed:
    """The first page of a list in one order, in milliseconds."""

    name: str
    p95: float
    order: str


class Reader:
    """A super admin who requests lists."""

    def __init__(self, email: str, password: str) -> None:
        self._client = Client()
        body = {"email": email, "password": password}
        answer = self._client.post("/auth/login", body, content_type="application/json")
        token = answer.json()["data"]["access_token"]
        self._headers = {"Authorization": f"Bearer {token}"}

    def read(self, query: dict[str, str]) -> Any:
        parameters = urlencode({name: value for name, value in query.items() if value})
        answer = self._client.get(f"/auth/admin/users?{parameters}", headers=self._headers)
        assert answer.status_code == 200, answer.content
        return answer.json()["data"]

    def statements(self, query: dict[str, str]) -> int:
        executed = []

        def record(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
            executed.append(sql)
            return execute(sql, params, many, context)

        with connection.execute_wrapper(record):
            self.read(query)
        return len(executed)


def combinations(reader: Reader) -> Iterator[Timed]:
    """Every search with every filter in every order, requested once after one that is not timed."""
    searches = {**SEARCHES, **ENDS}.items()
    for (name, text), narrowed, order in product(searches, FILTERS, ORDERS):
        query = {"query": text, **narrowed, **_ordered(order)}
        yield Timed(" ".join((name, *narrowed)), _p95(reader, query, 1), " ".join(order))


def faults(reader: Reader) -> Iterator[str]:
    """Yield each kind of list that takes too many statements."""
    for name, query in _kinds().items():
        for order in ORDERS:
            number = reader.statements({**query, **_ordered(order)})
            if number > MAX_STATEMENTS:
                yield f"{number} statements for {name}, {' '.join(order)}"


def timed(reader: Reader, *, times: int) -> Iterator[Timed]:
    """The slowest order of each kind of list."""
    for name, query in _kinds().items():
        worst = max((_p95(reader, {**query, **_ordered(o)}, times), " ".join(o)) for o in ORDERS)
        yield Timed(name, *worst)


def _p95(reader: Reader, query: dict[str, str], times: int) -> float:
    times_taken = []
    for _ in range(times + 1):
        begun = time.perf_counter()
        reader.read(query)
        times_taken.append((time.perf_counter() - begun) * 1000)
    # Without the first request, for which the database may still read from disk.
    return sorted(times_taken[1:])[max(int(0.95 * times) - 1, 0)]


def _ordered(order: tuple[str, str]) -> dict[str, str]:
    return dict(zip(("sort_field", "sort_dir"), order, strict=True))


def _kinds() -> dict[str, dict[str, str]]:
    return {
        **{name: {"query": text} for name, text in {**SEARCHES, **ENDS}.items()},
        **{" ".join(*narrowed.items()): narrowed for narrowed in FILTERS if narrowed},
    }
