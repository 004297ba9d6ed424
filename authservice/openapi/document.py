"""Build one OpenAPI 3.1 document from the declarations of the views.

3.1 instead of 3.0, because its schemas are JSON Schema: null is a type instead of a flag, and any
JSON Schema validator can check responses.
"""

from __future__ import annotations

from typing import Any

import authservice
from authservice.kernel.http.operations import Operation, Raw
from authservice.kernel.mount import mount
from authservice.openapi import (
    examples,
    headers,
    refusals,
    request_schemas,
    response_schemas,
    sections,
    security,
    texts,
)
from authservice.openapi.conf import conf
from authservice.openapi.response_schemas import ResponseSchemas
from authservice.openapi.routes import Route, routes

Schema = dict[str, Any]

VERSION = "3.1.1"
DESCRIPTION = """\
A successful response is `{"data": …}`. An error response is
`{"data": {"code", "message"}, "message"}`; error codes do not change, and `ErrorCode` lists them.

A client logs in, reads `status` of the response, and sends the access token in
`Authorization: Bearer …`. On 401 `TOKEN_EXPIRED` it calls `POST /refresh`, stores both new tokens
and repeats the request once. On 401 `INVALID_TOKEN` the session has ended, and the user logs in
again. Any response may be 429 or 503: wait for the seconds in `Retry-After`. The `message` of an
error can be shown to the user.

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


def describe() -> Schema:
    """The OpenAPI document of the installed modules, as a dict."""
    schemas = ResponseSchemas()
    refused: dict[str, Schema] = {}
    paths: dict[str, Schema] = {}
    used: list[str] = []
    for route in sections.ordered(routes()):
        if route.operation and not route.describes_itself:
            described = _operation(route, route.operation, schemas, refused)
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
        "tags": sections.tags(used),
        "paths": paths,
        "components": {
            "schemas": dict(sorted({**schemas.components, **refusals.schemas(refused)}.items())),
            "responses": dict(sorted(refused.items())),
            "headers": headers.COMPONENTS,
            "securitySchemes": security.schemes(),
        },
    }


def _operation(
    route: Route, operation: Operation, schemas: ResponseSchemas, refused: dict[str, Schema]
) -> Schema:
    """One method of a path. Adds components to `schemas` and `refused`."""
    parameters = [
        *request_schemas.path_parameters(route.parameters),
        *request_schemas.query_parameters(operation.query),
    ]
    body = request_schemas.body(operation.body, takes_form=route.view.takes_form)
    text = texts.description(route.id)
    responses = {
        **_successes(operation, schemas, texts.answer(route.id)),
        **refusals.references(route, operation, refused),
    }
    return {
        "operationId": route.id,
        "summary": operation.summary,
        **({"description": text} if text else {}),
        "tags": [sections.tag(route)],
        **security.of(route),
        **({"parameters": parameters} if parameters else {}),
        **({"requestBody": body} if body else {}),
        "responses": {str(status): responses[status] for status in sorted(responses)},
    }


def _successes(operation: Operation, schemas: ResponseSchemas, text: str) -> dict[int, Schema]:
    """The responses to successful requests, by status. `text` is what the usual one means."""
    answers = {operation.status: operation.answer, **operation.also}
    responses = {status: _success(answer, schemas) for status, answer in answers.items()}
    if text:
        responses[operation.status]["description"] = text
    if operation.page:
        page = responses[operation.status]
        page["description"] = f"{page['description']} {operation.page}"
        page["content"]["text/html"] = {"schema": {"type": "string"}}
    if operation.redirect:
        responses[operation.redirect_status] = {
            "description": operation.redirect,
            "headers": headers.references("Location", "Referrer-Policy"),
        }
    return responses


def _success(answer: Any, schemas: ResponseSchemas) -> Schema:
    if isinstance(answer, Raw):
        media_types, schema = answer.media_types, schemas.of(answer.body)
    else:
        media_types, schema = ("application/json",), _envelope(schemas.of(answer))
    content = {"schema": schema}
    if "application/json" in media_types:
        content |= examples.of_response(schema, schemas.components)
    return {
        "description": response_schemas.text(answer) or "Success.",
        "headers": headers.of_answer(answer),
        "content": dict.fromkeys(media_types, content),
    }


def _envelope(data: Schema) -> Schema:
    return {"type": "object", "required": ["data"], "properties": {"data": data}}
