"""The errors of a route: those that its action declares, and those of every route of its kind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_type_hints, is_typeddict

from authservice.core.conf import core
from authservice.kernel import errors
from authservice.kernel.errors import Fault
from authservice.kernel.faults import catalogue
from authservice.kernel.hooks import Refused
from authservice.kernel.http.operations import Operation
from authservice.kernel.modules import installed, plugs
from authservice.openapi import headers
from authservice.openapi.routes import Route

Schema = dict[str, Any]

_ALWAYS = (errors.TooManyRequests, errors.InternalError, errors.ServiceUnavailable)
_TOKEN = (errors.Unauthorized, errors.InvalidToken, errors.TokenExpired)
_BODY = (
    errors.InvalidJSON,
    errors.InvalidRequestBody,
    errors.RequestTooLarge,
    errors.UnsupportedMediaType,
)
_OF_HOOKS = "- A code of the project, by which its own rules refuse."


def references(
    route: Route, operation: Operation, components: dict[str, Schema]
) -> dict[int, Schema]:
    """References to the error responses of a route, by status. Adds the responses to `components`,
    because many routes share them."""
    by_status: dict[int, dict[str, type[Fault]]] = defaultdict(dict)
    for fault in faults(route, operation):
        by_status[fault.status][fault.code] = fault
    found = {}
    for status, by_code in by_status.items():
        sorted_faults = [by_code[code] for code in sorted(by_code)]
        name = f"{status}-" + "-".join(fault.__name__ for fault in sorted_faults)
        components[name] = _response(status, sorted_faults)
        found[status] = {"$ref": f"#/components/responses/{name}"}
    return found


def faults(route: Route, operation: Operation) -> Iterator[type[Fault]]:
    """The errors that a route can answer, some of them twice."""
    yield from _ALWAYS
    if not route.public:
        yield from _TOKEN
    if not route.public or _issues_tokens(operation):
        yield from _of_slot("login_policy")
    if route.view.super_admin:
        yield errors.Forbidden
        if plugs("second_factor"):
            yield errors.ReauthenticationRequired
    if route.takes_body:
        yield from _BODY
    if route.guarded:
        yield from _of_slot("request_guard")
    if route.parameters or operation.body or operation.query:
        yield errors.ValidationFailed
    if _may_be_refused_by_host(operation):
        yield Refused
    yield from operation.faults


def schemas(components: Mapping[str, Schema]) -> Schema:
    """The schemas of error responses, which are in `components`: the envelope, and every code of
    the installed modules. A hook of the project may refuse with further codes."""
    ours = ("authservice.kernel.", "authservice.core.", *(f"{one.name}." for one in installed()))
    known = {fault.code for fault in catalogue() if fault.__module__.startswith(ours)}
    declared = {code for response in components.values() for code in _examples(response)}
    code = {"$ref": "#/components/schemas/ErrorCode"}
    envelope = _envelope({"anyOf": [code, {"type": "string"}]} if _has_hooks() else code)
    codes = {
        "type": "string",
        "description": "The codes of all errors.",
        "enum": sorted(known | declared),
    }
    return {"Refusal": envelope, "ErrorCode": codes}


def _examples(response: Schema) -> Schema:
    examples: Schema = response["content"]["application/json"]["examples"]
    return examples


def _has_hooks() -> bool:
    further = (core.signup_serializer, core.profile_serializer)
    return any((core.login_hook, core.signup_hook, *further))


def _may_be_refused_by_host(operation: Operation) -> bool:
    """Whether a hook, or a serializer of further fields, may refuse with a code of its own."""
    further = getattr(operation.body, "further", None)
    if further is not None and further() is not None:
        return True
    return bool(core.login_hook or core.signup_hook) and _issues(operation, "access_token", "user")


def _issues_tokens(operation: Operation) -> bool:
    """Whether the action creates or refreshes a session: a response type has an access token."""
    return _issues(operation, "access_token")


def _issues(operation: Operation, *names: str) -> bool:
    """Whether a response type has all these fields."""
    types = get_args(operation.answer) or (operation.answer,)
    hints = [get_type_hints(type_) for type_ in types if is_typeddict(type_)]
    return any(set(names) <= set(one) for one in hints)


def _of_slot(slot: str) -> list[type[Fault]]:
    """The errors that the fillers of a slot declare in `faults`."""
    return [fault for filler in plugs(slot) for fault in getattr(filler, "faults", ())]


def _response(status: int, faults: list[type[Fault]]) -> Schema:
    """The response with the error envelope and the codes of these errors."""
    ours = [fault for fault in faults if fault.code]
    lines = [f"- `{fault.code}`: {fault.message}" for fault in ours]
    codes: Schema = {"enum": [fault.code for fault in ours]}
    if Refused in faults:
        lines.append(_OF_HOOKS)
        codes = {"type": "string"}
    return {
        "description": "\n".join(lines),
        "headers": headers.of_error(status),
        "content": {
            "application/json": {
                "schema": {
                    "allOf": [
                        {"$ref": "#/components/schemas/Refusal"},
                        {"properties": {"data": {"properties": {"code": codes}}}},
                    ]
                },
                "examples": {fault.code: {"value": _example(fault)} for fault in ours},
            }
        },
    }


def _example(fault: type[Fault]) -> dict[str, Any]:
    return {"data": {"code": fault.code, "message": fault.message}, "message": fault.message}


def _envelope(code: Schema) -> Schema:
    return {
        "type": "object",
        "description": "The error envelope. The top level repeats the message, for simple clients.",
        "required": ["data", "message"],
        "properties": {
            "data": {
                "type": "object",
                "required": ["code", "message"],
                "properties": {
                    "code": code,
                    "message": {"type": "string", "description": "A human-readable message."},
                    "details": {
                        "type": "object",
                        "description": "The errors of each invalid field, if enabled.",
                        "additionalProperties": {"type": "array", "items": {"type": "string"}},
                    },
                },
            },
            "message": {"type": "string"},
        },
    }
