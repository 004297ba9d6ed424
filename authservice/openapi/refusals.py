"""How a route can refuse: what its action says, and what each route has by its nature."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, get_args

from authservice.kernel import errors
from authservice.kernel.errors import Fault
from authservice.kernel.http.operations import Operation
from authservice.kernel.modules import plugs
from authservice.openapi.routes import Route

Response = dict[str, Any]

_ALWAYS = (errors.TooManyRequests, errors.InternalError, errors.ServiceUnavailable)
_TOKEN = (errors.Unauthorized, errors.InvalidToken, errors.TokenExpired)
_BODY = (
    errors.InvalidJSON,
    errors.InvalidRequestBody,
    errors.RequestTooLarge,
    errors.UnsupportedMediaType,
)
# Headers of a refusal beside those of every answer.
_HEADERS = {401: ("WWW-Authenticate",), 429: ("Retry-After",), 503: ("Retry-After",)}


def of(route: Route) -> dict[int, list[type[Fault]]]:
    """By status, sorted by code."""
    by_status: dict[int, dict[str, type[Fault]]] = defaultdict(dict)
    for fault in _faults(route):
        by_status[fault.status][fault.code] = fault
    return {
        status: [faults[code] for code in sorted(faults)]
        for status, faults in sorted(by_status.items())
    }


def _faults(route: Route) -> Iterable[type[Fault]]:
    said = route.operation
    yield from _ALWAYS
    if not route.view.public:
        yield from _TOKEN
    if not route.view.public or _issues_tokens(said):
        yield from _of_slot("login_policy")
    if route.view.super_admin:
        yield errors.Forbidden
        if plugs("second_factor"):
            yield errors.ReauthenticationRequired
    if route.takes_body:
        yield from _BODY
    if route.guarded:
        yield from _of_slot("request_guard")
    if route.parameters:
        yield errors.ValidationFailed
    if said is not None:
        yield from said.faults
        if said.body or said.query:
            yield errors.ValidationFailed


def _issues_tokens(said: Operation | None) -> bool:
    """Whether a sign-in begins or goes on here: some answer has an access token."""
    answered = said.answer if said else None
    kinds = get_args(answered) or (answered,)
    return any("access_token" in getattr(kind, "__annotations__", {}) for kind in kinds)


def _of_slot(slot: str) -> Iterable[type[Fault]]:
    """What the installed modules' fillers say of themselves in `faults`."""
    return [fault for filler in plugs(slot) for fault in getattr(filler, "faults", ())]


def headers(status: int) -> tuple[str, ...]:
    return _HEADERS.get(status, ())


def response(faults: list[type[Fault]], headers: dict[str, Any]) -> Response:
    """The error envelope with these codes."""
    return {
        "description": "\n".join(f"- `{fault.code}`: {fault.message}" for fault in faults),
        "headers": headers,
        "content": {
            "application/json": {
                "schema": {
                    "allOf": [
                        {"$ref": "#/components/schemas/Refusal"},
                        {"properties": {"data": {"properties": {"code": _enum(faults)}}}},
                    ]
                },
                "examples": {fault.code: {"value": _example(fault)} for fault in faults},
            }
        },
    }


def _enum(faults: list[type[Fault]]) -> dict[str, Any]:
    return {"enum": [fault.code for fault in faults]}


def _example(fault: type[Fault]) -> dict[str, Any]:
    return {"data": {"code": fault.code, "message": fault.message}, "message": fault.message}


SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "Every refusal; the text stands twice, for simple clients.",
    "required": ["data", "message"],
    "properties": {
        "data": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {
                "code": {"type": "string", "description": "What clients compare."},
                "message": {"type": "string", "description": "A text for people."},
                "details": {
                    "type": "object",
                    "description": "What is wrong with each field; only if the service is set to.",
                    "additionalProperties": {"type": "array", "items": {"type": "string"}},
                },
            },
        },
        "message": {"type": "string"},
    },
}
