"""Build one OpenAPI 3.1 document from the declarations of the views.

3.1 instead of 3.0, because its schemas are JSON Schema: null is a type instead of a flag, and any
JSON Schema validator can check responses.

Links lead from responses to the requests that take values of them, such as the id of a created row.
Tools that follow links send sequences of requests: https://spec.openapis.org/oas/v3.1.1#link-object.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args, get_origin, get_type_hints, is_typeddict

import authservice
from authservice.kernel.http.operations import Operation, Raw
from authservice.kernel.sections import mount
from authservice.openapi import examples, refusals, request_schemas, response_schemas
from authservice.openapi.conf import conf
from authservice.openapi.response_schemas import ResponseSchemas, named
from authservice.openapi.routes import (
    EVERYWHERE,
    Route,
    guard_parameters,
    ordered,
    routes,
    tag,
    tags,
    token_schemes,
)

Schema = dict[str, Any]


@dataclass(frozen=True)
class _Values:
    """Values of an answer that the routes at `path` and below it take. `pointers` has a JSON
    pointer into the answer, without the first slash, by the name of the parameter or field that
    takes the value."""

    path: str
    pointers: Mapping[str, str]


_USER_ID = {"user_id": "id"}
_ORGANIZATION = _Values("/org/{org_id}", {"org_id": "org_id"})
_MEMBER = _Values("/org/{org_id}/members/{user_id}", {"org_id": "org_id", "user_id": "user_id"})
_REFRESH = _Values("/refresh", {"refresh_token": "refresh_token"})
_CHALLENGE = {"temp_token": "challenges/0/data/temp_token"}
# By the name of the type of an answer.
_LINKED: Mapping[str, Sequence[_Values]] = {
    "AdminUser": (
        _Values("/admin/users/{user_id}", _USER_ID),
        _Values("/admin/audit/users/{user_id}", _USER_ID),
    ),
    "AuditEntry": (
        _Values("/admin/audit/actions/{action}", {"action": "action"}),
        _Values("/admin/audit/users/{user_id}", {"user_id": "actor_id"}),
    ),
    "Authenticated": (_REFRESH,),
    "Challenged": (
        _Values("/2fa/verify-login", _CHALLENGE),
        _Values("/2fa/setup-login", _CHALLENGE),
    ),
    "SentInvitation": (_Values("/invitations/{invitation_id}", {"invitation_id": "id"}),),
    "InvitationAccepted": (_REFRESH,),
    "Member": (_ORGANIZATION, _MEMBER),
    "Membership": (_ORGANIZATION, _MEMBER),
    "SentOrgInvitation": (
        _ORGANIZATION,
        _Values(
            "/org/{org_id}/invitations/{invitation_id}",
            {"org_id": "org_id", "invitation_id": "id"},
        ),
    ),
    "OrgInvitationAccepted": (_REFRESH,),
    "Organization": (
        _Values("/org/{org_id}", {"org_id": "id"}),
        _Values("/org/{org_id}/members/{user_id}", {"org_id": "id", "user_id": "owner_id"}),
        _Values("/org/switch", {"org_id": "id"}),
    ),
    "ProviderEntry": (_Values("/oauth/{provider}", {"provider": "name"}),),
    "Refreshed": (_REFRESH,),
    "Session": (_Values("/sessions/{session_id}", {"session_id": "id"}),),
    "SignedInByProvider": (_REFRESH,),
    "SwitchedTokens": (_REFRESH,),
}


def of_answer(answer: Any, source: Route, targets: Sequence[Route]) -> Schema:
    """The links of a response whose `data` has the type `answer`, by the id of their operation."""
    links: Schema = {}
    candidates = (
        (pointer, values, target)
        for pointer, kind in _types(answer, "/data")
        for values in _LINKED.get(kind, ())
        for target in targets
        if target is not source
    )
    for pointer, values, target in candidates:
        # A route at or below the path of these values that needs no other parameters takes them.
        below = f"{target.path}/".startswith(f"{values.path}/")
        if not below or not set(target.parameters) <= set(values.pointers) or target.id in links:
            continue
        expressions = {
            name: f"$response.body#{pointer}/{place}" for name, place in values.pointers.items()
        }
        parameters = {name: text for name, text in expressions.items() if name in target.parameters}
        body = {name: text for name, text in expressions.items() if name not in target.parameters}
        links[target.id] = {
            "operationId": target.id,
            **({"parameters": parameters} if parameters else {}),
            **({"requestBody": body} if body else {}),
        }
    return links


def _types(hint: Any, pointer: str) -> Iterator[tuple[str, str]]:
    """The types in an answer, and where they are: for a list, its first entry."""
    if get_origin(hint) is list:
        yield from _types(get_args(hint)[0], f"{pointer}/0")
    elif is_typeddict(get_origin(hint)):
        # The one generic type of answers, a page of a list.
        yield from _types(list[get_args(hint)[0]], f"{pointer}/list")  # type: ignore[misc]
    elif is_typeddict(hint):
        yield pointer, named(hint)
        for name, field in get_type_hints(hint).items():
            if is_typeddict(field) or get_origin(field) is list:
                yield from _types(field, f"{pointer}/{name}")
    else:
        for member in get_args(hint):
            yield from _types(member, pointer)


VERSION = "3.1.1"
DESCRIPTION = """\
A successful response is `{"data": …}`. An error response is
`{"data": {"code", "message"}, "message"}`; error codes do not change, and `ErrorCode` lists them.

A client logs in, reads `status` of the response, and sends the access token in `Authorization:
Bearer …`. On 401 `TOKEN_EXPIRED` or `INVALID_TOKEN` it calls `POST /refresh`, stores both new
tokens and repeats the request once. If the refresh is refused with 401 `INVALID_REFRESH_TOKEN`, the
session has ended, and the user logs in again. Any response may be 429 or 503: wait for the seconds
in `Retry-After`. The `message` of an error can be shown to the user.

Request bodies are JSON objects of at most 64 KiB in UTF-8. An empty body counts as an empty object.
Unknown fields are ignored and values are not coerced to other types. An empty string counts as
absent if the field accepts it. Strings must not contain control characters.

A path that supports `GET` also supports `HEAD`. `OPTIONS` returns the supported methods. Other
methods return 405 `METHOD_NOT_ALLOWED`, unknown paths 404 `NOT_FOUND`.

The service uses the `X-Request-ID` of a request if it has 1 to 128 characters of
`A-Z a-z 0-9 . _ -`. Responses with tokens contain `X-Device-Token` and a cookie with the same
value. Send one of them with the next login: failed logins of other clients then do not lock this
client out.
"""


@dataclass(frozen=True)
class _Components:
    """The parts that operations reference: the schemas of requests and answers, error responses,
    and an enum of error codes for each operation."""

    schemas: ResponseSchemas = field(default_factory=ResponseSchemas)
    responses: dict[str, Schema] = field(default_factory=dict)
    codes: dict[str, Schema] = field(default_factory=dict)


def describe(*, guards: bool = True) -> Schema:
    """The OpenAPI document of the installed modules, as a dict. Without `guards`, it describes a
    service that has no request guard."""
    components = _Components()
    paths: dict[str, Schema] = {}
    used_tags: list[str] = []
    described_routes = [
        route if guards else replace(route, guarded=False)
        for route in ordered(routes())
        if route.operation and not route.describes_itself
    ]
    for route in described_routes:
        if route.operation:  # as all of these have, for the type checker
            described = _operation(route, route.operation, components)
            for status, answer in route.operation.answers.items():
                if answer_links := of_answer(answer, route, described_routes):
                    described["responses"][str(status)]["links"] = answer_links
            paths.setdefault(route.path, {})[route.method] = described
            used_tags += described["tags"]
    return {
        "openapi": VERSION,
        "info": {
            "title": conf.title,
            "version": authservice.__version__,
            "description": DESCRIPTION,
        },
        "servers": [{"url": mount().rstrip("/")}],
        "security": EVERYWHERE,
        "tags": tags(used_tags),
        "paths": paths,
        "components": {
            "schemas": dict(
                sorted(
                    {**components.schemas.components, **refusals.schemas(components.codes)}.items()
                )
            ),
            "responses": dict(sorted(components.responses.items())),
            "headers": response_schemas.HEADER_COMPONENTS,
            "securitySchemes": token_schemes(),
        },
    }


def _operation(route: Route, operation: Operation, components: _Components) -> Schema:
    """The description of a route. Adds what it references to the components."""
    schemas = components.schemas
    parameters = [
        *request_schemas.path_parameters(route.parameters),
        *request_schemas.query_parameters(operation.query, schemas.components),
        *(guard_parameters() if route.guarded else ()),
    ]
    body = request_schemas.body(
        operation.body, schemas.components, takes_form=route.view.takes_form
    )
    responses = {status: _success(answer, schemas) for status, answer in operation.answers.items()}
    if operation.answered:
        responses[operation.status]["description"] = operation.answered
    if operation.page:
        page = responses[operation.status]
        page["description"] = f"{page['description']} {operation.page}"
        page["content"]["text/html"] = {"schema": {"type": "string"}}
    if operation.redirect:
        responses[operation.redirect_status] = {
            "description": operation.redirect,
            "headers": response_schemas.header_references("Location", "Referrer-Policy"),
        }
    responses |= refusals.responses(route, operation, components.responses, components.codes)
    return {
        "operationId": route.id,
        "summary": operation.summary or route.id,
        **({"description": operation.description} if operation.description else {}),
        "tags": [tag(route)],
        **route.security,
        **({"parameters": parameters} if parameters else {}),
        **({"requestBody": body} if body else {}),
        "responses": {str(status): responses[status] for status in sorted(responses)},
    }


def _success(answer: Any, schemas: ResponseSchemas) -> Schema:
    """A response whose data has the type `answer`: in the envelope, unless it is `Raw`."""
    media_types: tuple[str, ...] = ("application/json",)
    if isinstance(answer, Raw):
        media_types, schema = answer.media_types, schemas.of(answer.body)
        content: Schema = {"schema": schema}
    else:
        data = schemas.of(answer)
        schema = {"type": "object", "required": ["data"], "properties": {"data": data}}
        content = {"schema": schema}
        # If the schema of the data has a name, that of the envelope gets one too: many routes
        # answer with a message only, and client generators make a type for each schema without a
        # name.
        if set(data) == {"$ref"}:
            name = f"{data['$ref'].rpartition('/')[2]}Envelope"
            schemas.components[name] = schema
            content = {"schema": {"$ref": f"#/components/schemas/{name}"}}
    if "application/json" in media_types:
        content |= examples.of_response(schema, schemas.components)
    return {
        "description": response_schemas.text(answer) or "Success.",
        "headers": response_schemas.headers_of_answer(answer),
        "content": dict.fromkeys(media_types, content),
    }
