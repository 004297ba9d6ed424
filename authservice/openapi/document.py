"""Build one OpenAPI 3.1 document from the declarations of the views.

3.1 instead of 3.0, because its schemas are JSON Schema: null is a type instead of a flag, and any
JSON Schema validator can check responses.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import authservice
from authservice.kernel.http.operations import Operation, Raw
from authservice.kernel.sections import mount
from authservice.openapi import (
    examples,
    links,
    refusals,
    request_schemas,
    response_schemas,
    tags,
)
from authservice.openapi.conf import conf
from authservice.openapi.response_schemas import ResponseSchemas
from authservice.openapi.routes import EVERYWHERE, Route, guard_parameters, routes, token_schemes

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
        for route in tags.ordered(routes())
        if route.operation and not route.describes_itself
    ]
    for route in described_routes:
        if route.operation:  # as all of these have, for the type checker
            described = _operation(route, route.operation, components)
            for status, answer in route.operation.answers.items():
                if answer_links := links.of_answer(answer, route, described_routes):
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
        "tags": tags.tags(used_tags),
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
        "tags": [tags.tag(route)],
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
