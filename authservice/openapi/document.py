"""Build one OpenAPI 3.1 document from the declarations of the views.

3.1 instead of 3.0, because its schemas are JSON Schema: null is a type instead of a flag, and any
JSON Schema validator can check responses. The document does not depend on the settings of the host
project's drf-spectacular, which has one set of settings per process.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, get_args, get_origin

from django.urls import get_script_prefix, reverse

import authservice
from authservice.kernel.http.operations import Operation, Raw, carried
from authservice.kernel.settings import on_change
from authservice.openapi import inputs, refusals, security
from authservice.openapi.conf import conf
from authservice.openapi.routes import Route, routes
from authservice.openapi.shapes import Shapes
from authservice.openapi.words import DESCRIPTION, HEADERS

Schema = dict[str, Any]

VERSION = "3.1.1"
_JSON = "application/json"
_FORM = "application/x-www-form-urlencoded"
# Headers of every response.
_COMMON_HEADERS = ("X-Request-ID", "Cache-Control")


def text(render: Callable[[Schema], str]) -> str:
    """The description of the installed modules as text, made by `render`.

    Cached per script prefix: the route may be public, and building the document is expensive.
    """
    return _text(get_script_prefix(), render)


@lru_cache(maxsize=8)
def _text(_prefix: str, render: Callable[[Schema], str]) -> str:
    return render(describe())


def describe() -> Schema:
    """The OpenAPI document of the installed modules, as a dict."""
    shapes = Shapes()
    refused: dict[str, Schema] = {}
    paths: dict[str, Schema] = {}
    described = (route for route in routes() if route.operation)
    for route in sorted(described, key=lambda route: route.path):
        paths.setdefault(route.path, {})[route.method] = _operation(route, shapes, refused)
    return {
        "openapi": VERSION,
        "info": {
            "title": conf.title,
            "version": authservice.__version__,
            "description": DESCRIPTION,
        },
        "servers": [{"url": reverse("authservice:nowhere").rstrip("/")}],
        "security": security.EVERYWHERE,
        "tags": [{"name": tag} for tag in dict.fromkeys(route.tag for route in routes())],
        "paths": paths,
        "components": {
            "schemas": dict(sorted({**shapes.components, "Refusal": refusals.SCHEMA}.items())),
            "responses": dict(sorted(refused.items())),
            "headers": HEADERS,
            "securitySchemes": security.schemes(),
        },
    }


def _operation(route: Route, shapes: Shapes, refused: dict[str, Schema]) -> Schema:
    operation = route.operation
    assert operation is not None  # noqa: S101 `describe` skips routes without one
    query = inputs.query(operation.query) if operation.query else ()
    parameters = [*inputs.path(route.parameters), *query]
    return {
        "operationId": route.id,
        "summary": operation.summary,
        "tags": [route.tag],
        **security.of(route),
        **({"parameters": parameters} if parameters else {}),
        **({"requestBody": _body(route, operation)} if operation.body else {}),
        "responses": {
            str(status): response
            for status, response in sorted(
                {**_answers(operation, shapes), **_refusals(route, refused)}.items()
            )
        },
    }


def _body(route: Route, operation: Operation) -> Schema:
    assert operation.body is not None  # noqa: S101 the caller has checked it
    kinds = (_JSON, _FORM) if route.view.takes_form else (_JSON,)
    content = {kind: {"schema": inputs.body(operation.body)} for kind in kinds}
    return {**({"required": True} if inputs.needed(operation.body) else {}), "content": content}


def _refusals(route: Route, refused: dict[str, Schema]) -> dict[int, Schema]:
    """References to the error responses of a route. They are collected in `refused`, because many
    routes share them."""
    references = {}
    for status, faults in refusals.of(route).items():
        name = f"{status}-" + "-".join(fault.__name__ for fault in faults)
        refused[name] = refusals.response(faults, _headers(refusals.headers(status)))
        references[status] = {"$ref": f"#/components/responses/{name}"}
    return references


def _answers(operation: Operation, shapes: Shapes) -> dict[int, Schema]:
    answers = {operation.status: operation.answer, **operation.also}
    responses = {status: _answer(answer, shapes) for status, answer in answers.items()}
    if operation.page:
        page = responses[operation.status]
        page["description"] = f"Success. {operation.page}"
        page["content"]["text/html"] = {"schema": {"type": "string"}}
    if operation.redirect:
        responses[operation.redirect_status] = {
            "description": operation.redirect,
            "headers": _headers(("Location", "Referrer-Policy")),
        }
    return responses


def _answer(answer: Any, shapes: Shapes) -> Schema:
    if isinstance(answer, Raw):
        content = {kind: {"schema": shapes.of(answer.body)} for kind in answer.media_types}
        return {"description": "Success.", "headers": _headers(()), "content": content}
    envelope = {
        "type": "object",
        "required": ["data"],
        "properties": {"data": shapes.of(answer), "message": {"type": "string"}},
    }
    return {
        "description": "Success.",
        "headers": _headers(_carried(answer)),
        "content": {_JSON: {"schema": envelope}},
    }


def _carried(answer: Any) -> tuple[str, ...]:
    """Headers of all types that a response may have."""
    members = (answer, *get_args(answer)) if get_origin(answer) else (answer,)
    return tuple(dict.fromkeys(name for member in members for name in carried(member)))


def _headers(names: tuple[str, ...]) -> Schema:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in (*_COMMON_HEADERS, *names)}


on_change(_text.cache_clear)
