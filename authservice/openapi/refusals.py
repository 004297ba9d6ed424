"""The errors of a route: those that its action declares, and those of every route of its kind."""

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
# Headers of error responses in addition to those of every response.
_HEADERS = {401: ("WWW-Authenticate",), 429: ("Retry-After",), 503: ("Retry-After",)}


def of(route: Route) -> dict[int, list[type[Fault]]]:
    """The errors of a route by status, sorted by code."""
    by_status: dict[int, dict[str, type[Fault]]] = defaultdict(dict)
    for fault in _faults(route):
        by_status[fault.status][fault.code] = fault
    return {
        status: [faults[code] for code in sorted(faults)]
        for status, faults in sorted(by_status.items())
    }


def _faults(route: Route) -> Iterable[type[Fault]]:
    operation = route.operation
    yield from _ALWAYS
    if not route.view.public:
        yield from _TOKEN
    if not route.view.public or _issues_tokens(operation):
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
    if operation is not None:
        yield from operation.faults
        if operation.body or operation.query:
            yield errors.ValidationFailed


def _issues_tokens(operation: Operation | None) -> bool:
    """Whether the action creates or refreshes a session: a response type has an access token."""
    answer = operation.answer if operation else None
    types = get_args(answer) or (answer,)
    return any("access_token" in getattr(type_, "__annotations__", {}) for type_ in types)


def _of_slot(slot: str) -> Iterable[type[Fault]]:
    """The errors that the fillers of a slot declare in `faults`."""
    return [fault for filler in plugs(slot) for fault in getattr(filler, "faults", ())]


def headers(status: int) -> tuple[str, ...]:
    return _HEADERS.get(status, ())


def response(faults: list[type[Fault]], headers: dict[str, Any]) -> Response:
    """The response with the error envelope and these codes."""
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
    "description": "The error envelope. The top level repeats the message, for simple clients.",
    "required": ["data", "message"],
    "properties": {
        "data": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {
                "code": {"type": "string", "description": "The error code, for programs."},
                "message": {"type": "string", "description": "A human-readable message."},
                "details": {
                    "type": "object",
                    "description": "The errors of each invalid field, if the service enables them.",
                    "additionalProperties": {"type": "array", "items": {"type": "string"}},
                },
            },
        },
        "message": {"type": "string"},
    },
}
