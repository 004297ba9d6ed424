"""The errors of a route: those that its action declares, and those of every route of its kind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_type_hints, is_typeddict

from authservice.core.api import guarded_routes
from authservice.core.conf import core
from authservice.core.errors import StepUpRequired, StepUpUnavailable
from authservice.kernel import errors
from authservice.kernel.errors import Fault, catalogue
from authservice.kernel.hooks import Refused
from authservice.kernel.http.operations import Operation
from authservice.kernel.interfaces import AccountAccess, LoginPolicy, RequestGuard, SecondFactor
from authservice.kernel.modules import installed, plugs
from authservice.openapi import response_schemas
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


def responses(
    route: Route, operation: Operation, shared: dict[str, Schema], enums: dict[str, Schema]
) -> dict[int, Schema]:
    """The error responses of a route, by status. Adds to `shared` those that all routes of its
    kind have, and to `enums` the codes of the operation.

    All responses have the schema `Refusal`, and a list of their codes beside it, which client
    generators either understand or ignore. With a schema for each response, a generated client in
    Python had 2,000 classes for them.
    """
    general = set(_of_kind(route, operation))
    by_status: dict[int, dict[str, type[Fault]]] = defaultdict(dict)
    for fault in faults(route, operation):
        by_status[fault.status][fault.code] = fault
    enum = f"{route.id[0].upper()}{route.id[1:]}ErrorCode"
    codes = sorted(code for by_code in by_status.values() for code in by_code if code)
    enums[enum] = {
        "type": "string",
        "description": f"The error codes of `{route.id}`.",
        "enum": codes,
    }
    described = {}
    for status, by_code in by_status.items():
        sorted_faults = [by_code[code] for code in sorted(by_code)]
        if not general.issuperset(sorted_faults):
            described[status] = _response(status, sorted_faults, enum)
            continue
        name = f"{status}-" + "-".join(fault.__name__ for fault in sorted_faults)
        shared[name] = _response(status, sorted_faults, "ErrorCode")
        described[status] = {"$ref": f"#/components/responses/{name}"}
    return described


def faults(route: Route, operation: Operation) -> Iterator[type[Fault]]:
    """The errors that a route can answer, some of them twice."""
    yield from _of_kind(route, operation)
    yield from operation.faults


def _of_kind(route: Route, operation: Operation) -> Iterator[type[Fault]]:
    """The errors of every route of this kind, whatever its action declares."""
    yield from _ALWAYS
    if not route.public:
        yield from _TOKEN
    # Policies check a session that a request uses, or that the action creates or refreshes: its
    # response has an access token.
    if not route.public or _issues(operation, "access_token"):
        yield from (fault for policy in plugs(LoginPolicy) for fault in policy.faults)
    # The body may have the answer of a second factor other than a code.
    if {"temp_token", "credential"} <= set(getattr(operation.body, "_declared_fields", {})):
        yield from (fault for factor in plugs(SecondFactor) for fault in factor.faults)
        if _issues(operation, "access_token", "user"):  # it completes a login
            yield from (fault for access in plugs(AccountAccess) for fault in access.faults)
    if route.view.super_admin:
        yield errors.Forbidden
        if plugs(SecondFactor):
            yield errors.ReauthenticationRequired  # a session without a required second factor
    if guarded_routes.may_guard(route.view, route.action):
        yield from (StepUpRequired, StepUpUnavailable)
    if route.takes_body:
        yield from _BODY
    if route.guarded:
        yield from (fault for guard in plugs(RequestGuard) for fault in guard.faults)
    if route.parameters or operation.body or operation.query:
        yield errors.ValidationFailed
    if route.parameters:
        yield errors.NotFound  # a parameter with a percent sign
    # A hook, or a serializer of extra fields, may refuse with a code of its own.
    extra_serializer = getattr(operation.body, "extra_serializer", None)
    has_hook = bool(core.login_hook or core.signup_hook)
    begins_session = has_hook and _issues(operation, "access_token", "user")
    if begins_session or (extra_serializer is not None and extra_serializer() is not None):
        yield Refused


def schemas(enums: Mapping[str, Schema]) -> Schema:
    """The schemas of error responses: the envelope, every code of the installed modules, and the
    codes of each operation. Hooks and serializers of the project may refuse with further codes."""
    prefixes = (
        "authservice.kernel.",
        "authservice.core.",
        *(f"{module.name}." for module in installed()),
    )
    our_codes = {fault.code for fault in catalogue() if fault.__module__.startswith(prefixes)}
    declared = {code for enum in enums.values() for code in enum["enum"]}
    code: Schema = {"$ref": "#/components/schemas/ErrorCode"}
    properties = {
        name: dict(schema)
        for fault in catalogue()
        if fault.code in our_codes | declared
        for name, schema in fault.described.items()
    }
    serializers = (core.signup_serializer, core.profile_serializer)
    if any((core.login_hook, core.signup_hook, *serializers)):
        code = {"anyOf": [code, {"type": "string"}]}
    codes = {
        "type": "string",
        "description": "The codes of all errors.",
        "enum": sorted(our_codes | declared),
    }
    return {"Refusal": _envelope(code, properties), "ErrorCode": codes, **enums}


def _issues(operation: Operation, *names: str) -> bool:
    """Whether a response type has all these fields."""
    types = get_args(operation.answer) or (operation.answer,)
    hints = [get_type_hints(type_) for type_ in types if is_typeddict(type_)]
    return any(set(names) <= set(fields) for fields in hints)


def _response(status: int, faults: list[type[Fault]], enum: str) -> Schema:
    """The response with the error envelope and the codes of these errors, which are some of
    `enum`."""
    faults_with_code = [fault for fault in faults if fault.code]
    lines = [f"- `{fault.code}`: {fault.message}" for fault in faults_with_code]
    examples = {
        fault.code: {
            "value": {
                "data": {"code": fault.code, "message": fault.message},
                "message": fault.message,
            }
        }
        for fault in faults_with_code
    }
    enum_of_status = {"enum": [fault.code for fault in faults_with_code]}
    codes: Schema = {"allOf": [{"$ref": f"#/components/schemas/{enum}"}, enum_of_status]}
    if Refused in faults:
        lines.append(_OF_HOOKS)
        codes = {"type": "string"}
    return {
        "description": "\n".join(lines),
        "headers": response_schemas.of_error(status),
        "content": {
            "application/json": {
                "schema": {
                    "allOf": [{"$ref": "#/components/schemas/Refusal"}],
                    "properties": {"data": {"properties": {"code": codes}}},
                },
                "examples": examples,
            }
        },
    }


def _envelope(code: Schema, extra_properties: Schema) -> Schema:
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
                    **extra_properties,
                },
            },
            "message": {"type": "string"},
        },
    }
