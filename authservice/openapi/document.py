"""Build one OpenAPI 3.1 document from the declarations of the views.

3.1 instead of 3.0, because its schemas are JSON Schema: null is a type instead of a flag, and any
JSON Schema validator can check responses.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import authservice
from authservice.kernel.http.operations import Operation, Raw
from authservice.kernel.mount import mount
from authservice.openapi import (
    examples,
    links,
    refusals,
    request_schemas,
    response_schemas,
    security,
    tags,
)
from authservice.openapi.conf import conf
from authservice.openapi.response_schemas import ResponseSchemas
from authservice.openapi.routes import Route, routes

Schema = dict[str, Any]

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
value. A client that sends one of them with its next login has its own limit of attempts, which
failed logins of other clients do not use up.
"""


@dataclass(frozen=True)
class _Components:
    """What several operations share: `schemas`, error responses, and the codes of operations."""

    schemas: ResponseSchemas = field(default_factory=ResponseSchemas)
    responses: dict[str, Schema] = field(default_factory=dict)
    codes: dict[str, Schema] = field(default_factory=dict)


def describe(*, guards: bool = True) -> Schema:
    """The OpenAPI document of the installed modules, as a dict. Without `guards`, it describes a
    service that has no request guard."""
    components = _Components()
    paths: dict[str, Schema] = {}
    used: list[str] = []
    described_routes = [
        route if guards else replace(route, guarded=False)
        for route in tags.ordered(routes())
        if route.operation and not route.describes_itself
    ]
    for route in described_routes:
        if route.operation:
            described = _operation(route, route.operation, components)
            for status, answer in route.operation.answers.items():
                if linked := links.of_answer(answer, route, described_routes):
                    described["responses"][str(status)]["links"] = linked
            paths.setdefault(route.path, {})[route.method] = described
            used += described["tags"]
    return {
        "openapi": VERSION,
        "info": {
            "title": conf.title,
            "version": authservice.__version__,
            "description": DESCRIPTION,
        },
        "servers": [{"url": mount().rstrip("/")}],
        "security": security.EVERYWHERE,
        "tags": tags.tags(used),
        "paths": paths,
        "components": {
            "schemas": dict(
                sorted(
                    {**components.schemas.components, **refusals.schemas(components.codes)}.items()
                )
            ),
            "responses": dict(sorted(components.responses.items())),
            "headers": response_schemas.HEADER_COMPONENTS,
            "securitySchemes": security.token_schemes(),
        },
    }


def _operation(route: Route, operation: Operation, components: _Components) -> Schema:
    """One method of a path. Adds to the components."""
    schemas = components.schemas
    parameters = [
        *request_schemas.path_parameters(route.parameters),
        *request_schemas.query_parameters(operation.query, schemas.components),
        *(security.guard_parameters() if route.guarded else ()),
    ]
    body = request_schemas.body(
        operation.body, schemas.components, takes_form=route.view.takes_form
    )
    responses = {
        **_successes(operation, schemas, operation.answered),
        **refusals.responses(route, operation, components.responses, components.codes),
    }
    return {
        "operationId": route.id,
        "summary": operation.summary or route.id,
        **({"description": operation.description} if operation.description else {}),
        "tags": [tags.tag(route)],
        **security.of(route),
        **({"parameters": parameters} if parameters else {}),
        **({"requestBody": body} if body else {}),
        "responses": {str(status): responses[status] for status in sorted(responses)},
    }


def _successes(operation: Operation, schemas: ResponseSchemas, text: str) -> dict[int, Schema]:
    """The responses to successful requests, by status. `text` is what the usual one means."""
    responses = {status: _success(answer, schemas) for status, answer in operation.answers.items()}
    if text:
        responses[operation.status]["description"] = text
    if operation.page:
        page = responses[operation.status]
        page["description"] = f"{page['description']} {operation.page}"
        page["content"]["text/html"] = {"schema": {"type": "string"}}
    if operation.redirect:
        responses[operation.redirect_status] = {
            "description": operation.redirect,
            "headers": response_schemas.header_references("Location", "Referrer-Policy"),
        }
    return responses


def _success(answer: Any, schemas: ResponseSchemas) -> Schema:
    if isinstance(answer, Raw):
        media_types, schema = answer.media_types, schemas.of(answer.body)
    else:
        media_types, schema = ("application/json",), _envelope(schemas.of(answer))
    content: Schema = {"schema": _named(schema, schemas)}
    if "application/json" in media_types:
        content |= examples.of_response(schema, schemas.components)
    return {
        "description": response_schemas.text(answer) or "Success.",
        "headers": response_schemas.headers_of_answer(answer),
        "content": dict.fromkeys(media_types, content),
    }


def _envelope(data: Schema) -> Schema:
    return {"type": "object", "required": ["data"], "properties": {"data": data}}


def _named(schema: Schema, schemas: ResponseSchemas) -> Schema:
    """An envelope of a type that has a name has one too: many routes answer with a message only,
    and client generators make a type for each schema that has no name."""
    data = schema.get("properties", {}).get("data", {})
    if set(data) != {"$ref"}:
        return schema
    name = f"{data['$ref'].rpartition('/')[2]}Envelope"
    schemas.components[name] = schema
    return {"$ref": f"#/components/schemas/{name}"}
