"""The list of users, requested in every way that could be slow: its plan and response time."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client

from authservice.core.models import Account
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
MOST = 3  # statements


@dataclass(frozen=True)
class Timed:
    """The first page of a list in its slowest order, in milliseconds."""

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
        asked = urlencode({name: value for name, value in query.items() if value})
        answer = self._client.get(f"/auth/admin/users?{asked}", headers=self._headers)
        assert answer.status_code == 200, answer.content
        return answer.json()["data"]

    def statements(self, query: dict[str, str]) -> list[tuple[str, Any]]:
        ran = []

        def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
            ran.append((sql, params))
            return execute(sql, params, many, context)

        with connection.execute_wrapper(note):
            self.read(query)
        return ran


def faults(reader: Reader) -> Iterator[str]:
    """Yield what is wrong with the plans of the database."""
    searches = {**SEARCHES, **ENDS}.items()
    for (name, text), narrowed, order in product(searches, FILTERS, ORDERS):
        query = {"query": text, **narrowed, **_ordered(order)}
        ran = reader.statements(query)
        if len(ran) > MOST:
            yield f"{len(ran)} statements for {name} {narrowed} {order}"
        for sql, params in ran:
            if not sql.startswith("EXPLAIN") and _reads_a_table_in_whole(sql, params):
                yield f"a whole table is read for {name} {narrowed} {order}"


def timed(reader: Reader, *, times: int) -> Iterator[Timed]:
    """The slowest order of each kind of list."""
    kinds = {
        **{name: {"query": text} for name, text in {**SEARCHES, **ENDS}.items()},
        **{" ".join(*narrowed.items()): narrowed for narrowed in FILTERS if narrowed},
    }
    for name, query in kinds.items():
        worst = max((_p95(reader, {**query, **_ordered(o)}, times), " ".join(o)) for o in ORDERS)
        yield Timed(name, *worst)


def _p95(reader: Reader, query: dict[str, str], times: int) -> float:
    took = []
    for _ in range(times + 1):
        begun = time.perf_counter()
        reader.read(query)
        took.append((time.perf_counter() - begun) * 1000)
    # Without the first request, for which the database may still read from disk.
    return sorted(took[1:])[int(0.95 * times) - 1]


def _ordered(order: tuple[str, str]) -> dict[str, str]:
    return dict(zip(("sort_field", "sort_dir"), order, strict=True))


def _reads_a_table_in_whole(sql: str, params: Any) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (FORMAT JSON) {sql}", params)
        told = cursor.fetchone()[0]
    (plan,) = json.loads(told) if isinstance(told, str) else told
    tables = {Account._meta.db_table, get_user_model()._meta.db_table}
    return any(
        node["Node Type"] == "Seq Scan" and node["Relation Name"] in tables
        for node in _nodes(plan["Plan"])
    )


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", []):
        yield from _nodes(child)
