"""Texts that are expensive to normalise, match or compare, and every place where a route reads one.

Used by the quick tests in `tests/contract/test_text_bounds.py` and by the measurements of
`python -m tests.benchmarks.text_input`.
"""

from __future__ import annotations

import gc
import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from django.core.handlers.base import BaseHandler
from django.test import RequestFactory
from rest_framework.serializers import CharField, DateTimeField

from authservice.openapi.routes import Route, routes
from tests.support.client import BASE, PASSWORD, csrf_pair
from tests.support.expensive_texts import LONG, MARKS

OCTETS = 62_000  # below the 64 KiB limit of a body, with room for its other fields
# JSON structures that no field accepts; `%s` is the name of a field.
BODIES = {
    "nested arrays": b'{"%s": ' + b"[" * 900 + b"]" * 900 + b"}",
    "nested objects": b'{"%s": ' + b'{"a":' * 900 + b"1" + b"}" * 900 + b"}",
    "long array": b'{"%s": [' + b"1," * 30_000 + b"1]}",
    "many keys": b'{"%s": 1, ' + b",".join(b'"k%d": 1' % n for n in range(5000)) + b"}",
    "long number": b'{"%s": ' + b"9" * 4300 + b"}",
}
_VALID: dict[str, Any] = {
    "email": "ann@example.com",
    "password": PASSWORD,
    "old_password": PASSWORD,
    "new_password": "fig biscuit 17 lanterns",
    "phone": "+4930123456",
    "code": "123456",
    "credential": {},
}
_PARAMETER = re.compile(r"{(\w+)}")


@dataclass(frozen=True)
class Place:
    """A field of a body, a parameter of a query string or a part of a path; `others` are the
    further values that the route requires."""

    route: Route
    where: str
    name: str
    max_length: int
    others: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.route.method.upper()} {self.route.path} {self.where} {self.name}"

    def texts(self) -> Iterator[tuple[str, str]]:
        """Each text in full, and cut to the maximum length so that validation continues."""
        for name, text in LONG.items():
            if self.where == "body" or text == MARKS:  # servers reject URLs of that length
                yield name, text.encode()[:OCTETS].decode(errors="ignore")
            yield f"{name}, cut", text[: self.max_length]

    def request(self, text: str, *, token: str = "") -> Any:
        given = {**self.others, self.name: text}
        path = _PARAMETER.sub("1", self.route.path)
        if self.where == "path":
            path = self.route.path.replace(f"{{{self.name}}}", quote(text, safe=""))
        if self.where == "query":
            path += f"?{urlencode(given)}"
        body = json.dumps(given, ensure_ascii=False).encode() if self.where == "body" else b""
        return self.request_of(body, path=path, token=token)

    def request_of(self, body: bytes, *, path: str = "", token: str = "") -> Any:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return RequestFactory().generic(
            self.route.method.upper(),
            BASE + (path or _PARAMETER.sub("1", self.route.path)).lstrip("/"),
            body,
            content_type="application/json",
            headers=csrf_pair(headers),
        )


def places() -> list[Place]:
    """Every text that a route reads, taken from the schemas of the routes."""
    return [place for route in routes() if route.operation for place in _of(route)]


class Service:
    """Answers requests and measures their CPU time, without the CPU time of a client."""

    def __init__(self) -> None:
        self._handler = BaseHandler()
        self._handler.load_middleware()

    def answer(self, request: Any) -> tuple[float, Any]:
        """CPU time in seconds, and the response."""
        gc.disable()  # a collection would scan all objects of the tests and distort the figure
        try:
            started = time.thread_time()
            response = self._handler.get_response(request)
            return time.thread_time() - started, response
        finally:
            gc.enable()


def _of(route: Route) -> Iterator[Place]:
    for name in route.parameters:
        yield Place(route, "path", name, 255)
    operation = route.operation
    for where, schema in (
        (("body", operation.body), ("query", operation.query)) if operation else ()
    ):
        fields = schema().fields if schema else {}
        for name, item in fields.items():
            if isinstance(item, CharField | DateTimeField):
                yield Place(route, where, name, _longest(item), _others(schema, name))


def _longest(item: Any) -> int:
    return getattr(item, "max_length", None) or 255


def _others(schema: Any, name: str) -> dict[str, Any]:
    dependent = getattr(schema, "alongside", {}).get(name, ())
    needed = [of for of, item in schema().fields.items() if item.required or of in dependent]
    return {of: _VALID.get(of, "A" * 43) for of in needed if of != name}
