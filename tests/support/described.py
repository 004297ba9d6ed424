"""Check every response that the test suite receives against the API description.

Status, content type, headers and body must match the description of the route, and objects may have
only the described properties. So an error that a route does not declare fails the test that caused
it.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from django.http import HttpResponse
from django.urls import Resolver404, resolve
from jsonschema_rs import Draft202012Validator

from authservice.core.conf import core, step_up
from authservice.csrf.conf import conf as csrf
from authservice.kernel import errors, modules
from authservice.kernel.sections import secure
from authservice.kernel.settings import cached, cached_for_host
from authservice.openapi.conf import conf
from authservice.openapi.document import describe
from authservice.openapi.routes import routes

_LONGEST_COOKIE = 4096  # browsers reject longer ones
# Responses to a method that a known path does not support, and to any method on an unknown path.
_ELSEWHERE = {
    200: None,
    **{
        fault.status: fault.code
        for fault in (
            errors.InternalError,
            errors.MethodNotAllowed,
            errors.NotFound,
            errors.TooManyRequests,
        )
    },
}


def check(method: str, path: str, response: HttpResponse) -> None:
    """Raises `AssertionError` for a response that the description does not contain, or for a cookie
    with a wider scope than this host."""
    _check_cookies(response)
    # What a test swaps in may have other errors.
    swapped = ((slot, *map(_kind, fillers)) for slot, fillers in modules._swapped.items())
    described = _of_now(tuple(swapped))
    place = _place(path, response)
    operation = described.operations.get((place, method.lower()))
    if place in described.undescribed:
        return
    if operation:
        described.check(operation, response, f"{method} {path}")
    else:
        _check_elsewhere(method, response)


class Described:
    """The description, with compiled schemas that allow no undescribed properties."""

    def __init__(self) -> None:
        self.document = _closed(describe())
        paths = {route.path: route.name for route in routes()}
        # The description and its pages are not part of it.
        self.undescribed = {route.name for route in routes() if route.describes_itself}
        self.operations = {
            (paths[path], method): operation
            for path, operations in self.document["paths"].items()
            for method, operation in operations.items()
        }
        self._compiled: dict[int, Draft202012Validator] = {}

    def resolve(self, entry: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in entry:
            found: Any = self.document
            for step in entry["$ref"].removeprefix("#/").split("/"):
                found = found[step]
            entry = found
        return entry

    def check(self, operation: dict[str, Any], response: HttpResponse, request: str) -> None:
        summary = f"{request} answered {response.status_code} {response.content[:400]!r}"
        declared = operation["responses"].get(str(response.status_code))
        assert declared is not None, f"{summary}, which is not described"
        declared = self.resolve(declared)
        for name, header in declared.get("headers", {}).items():
            self._check_header(name, self.resolve(header), response, summary)
        assert "X-Device-Token" not in response.headers or "X-Device-Token" in declared["headers"]
        if response.status_code == 503 and not response.content:
            return  # a prefetch, which only browsers send and nobody sees
        content = declared.get("content")
        if content is None:
            assert not response.content, summary
            return
        kind = response.headers["Content-Type"].partition(";")[0]
        assert kind in content, f"{summary} as {kind}"
        if kind == "application/json":
            self._check_body(content[kind]["schema"], json.loads(response.content), summary)

    def _check_header(
        self, name: str, header: dict[str, Any], response: HttpResponse, summary: str
    ) -> None:
        given = response.headers.get(name)
        assert given is not None or not header.get("required"), f"{summary} without {name}"
        if given is not None:
            value = int(given) if header["schema"]["type"] == "integer" else given
            self._check_body(header["schema"], value, f"{summary} with {name}: {given!r}")

    def _check_body(self, schema: dict[str, Any], body: Any, summary: str) -> None:
        validator = self._compiled.get(id(schema))
        if validator is None:
            whole = {**schema, "components": self.document["components"]}
            validator = Draft202012Validator(whole, validate_formats=True)
            self._compiled[id(schema)] = validator
        wrong = next(iter(validator.iter_errors(body)), None)
        assert wrong is None, f"{summary}, which is not as described: {wrong}"


@cached
def _of_now(swapped: tuple[Any, ...]) -> Described:
    """The description with the settings and modules of now. One of equal settings is used again:
    most tests change none that it depends on."""
    installed = tuple(config.name for config in modules.installed())
    filled = tuple((config.label, slot, path) for config, slot, path in modules.slots_filled())
    serializers = (core.signup_serializer, core.profile_serializer)
    configured = (core.login_hook, core.signup_hook, repr(core.user_fields), *serializers)
    guards = (step_up.routes, repr(sorted(step_up.further_routes)))
    return _described(installed, filled + swapped, (conf.access, *configured, *guards))


@cache
def _described(
    installed: tuple[str, ...], plugged: tuple[Any, ...], settings: tuple[str, ...]
) -> Described:
    return Described()


def _kind(filler: Any) -> tuple[Any, ...]:
    return type(filler).__qualname__, getattr(filler, "faults", ())


@cached_for_host
def _names() -> frozenset[str]:
    return frozenset(route.name for route in routes())


def _place(path: str, response: Any) -> str | None:
    """The name of the route of a path, or `None` for an unknown path."""
    # Django has found the route, unless a middleware answered before.
    found = response.wsgi_request.resolver_match
    try:
        found = found or resolve(path)
    except (Resolver404, UnicodeError):
        return None
    # A page passes on what is not for people to the route at its address.
    name = getattr(found.func, "route", "") or found.url_name
    return name if name in _names() else None


def _check_cookies(response: HttpResponse) -> None:
    """Check every cookie of the service, whether set or deleted: for this host only, secure if the
    service uses HTTPS, and hidden from scripts except the cookie that they must read."""
    for name, cookie in response.cookies.items():
        assert (cookie["path"], cookie["domain"]) == ("/", ""), cookie
        assert cookie["samesite"], cookie
        assert len(cookie.OutputString()) <= _LONGEST_COOKIE, cookie
        if cookie.value:
            assert bool(cookie["secure"]) == name.startswith("__Host-") == secure(), cookie
            assert bool(cookie["httponly"]) != name.endswith(csrf.cookie_name), cookie


def _check_elsewhere(method: str, response: HttpResponse) -> None:
    assert response.status_code in _ELSEWHERE, response
    if method != "HEAD" and response.status_code != 200:
        code = json.loads(response.content)["data"]["code"]
        assert code == _ELSEWHERE[response.status_code]


def _closed(schema: Any) -> Any:
    """The same schema, but every object that names its properties allows no others."""
    if isinstance(schema, list):
        return [_closed(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: _closed(entry) for name, entry in schema.items()}
    if closed.get("type") == "object" and isinstance(closed.get("properties"), dict):
        closed.setdefault("additionalProperties", False)
    return closed
