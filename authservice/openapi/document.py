"""The API as one OpenAPI 3.1 document: what the views say of themselves, put together.

3.1 rather than 3.0, because its schemas are JSON Schema: null is a type and not a flag beside it,
and any validator of JSON Schema can hold an answer against them. It is made without any setting of
the host's own drf-spectacular, which has one set of settings per process.
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
# Every answer has these; what is personal must not be kept.
_EVERYWHERE = ("X-Request-ID", "Cache-Control")


def text(written: Callable[[Schema], str]) -> str:
    """The description of what is installed, as `written` by a renderer.

    Made once for each path that servers put us below, since anybody may ask for it at will.
    """
    return _text(get_script_prefix(), written)


@lru_cache(maxsize=8)
def _text(_prefix: str, written: Callable[[Schema], str]) -> str:
    return written(describe())


def describe() -> Schema:
    shapes = Shapes()
    refused: dict[str, Schema] = {}
    paths: dict[str, Schema] = {}
    found = sorted((route for route in routes() if route.operation), key=lambda route: route.path)
    for route in found:
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
    said = route.operation
    assert said is not None  # noqa: S101 those without were left out
    parameters = [*inputs.path(route.parameters), *(inputs.query(said.query) if said.query else ())]
    return {
        "operationId": route.id,
        "summary": said.summary,
        "tags": [route.tag],
        **security.of(route),
        **({"parameters": parameters} if parameters else {}),
        **({"requestBody": _body(route, said)} if said.body else {}),
        "responses": {
            str(status): response
            for status, response in sorted(
                {**_answers(said, shapes), **_refusals(route, refused)}.items()
            )
        },
    }


def _body(route: Route, said: Operation) -> Schema:
    assert said.body is not None  # noqa: S101 asked before
    kinds = (_JSON, _FORM) if route.view.takes_form else (_JSON,)
    content = {kind: {"schema": inputs.body(said.body)} for kind in kinds}
    return {**({"required": True} if inputs.needed(said.body) else {}), "content": content}


def _refusals(route: Route, refused: dict[str, Schema]) -> dict[int, Schema]:
    """References to the refusals of a route, which are kept in `refused`: many share theirs."""
    references = {}
    for status, faults in refusals.of(route).items():
        name = f"{status}-" + "-".join(fault.__name__ for fault in faults)
        refused[name] = refusals.response(faults, _headers(refusals.headers(status)))
        references[status] = {"$ref": f"#/components/responses/{name}"}
    return references


def _answers(said: Operation, shapes: Shapes) -> dict[int, Schema]:
    answers = {said.status: said.answer, **said.also}
    responses = {status: _answer(answer, shapes) for status, answer in answers.items()}
    if said.page:
        responses[said.status]["description"] = f"Done. {said.page}"
        responses[said.status]["content"]["text/html"] = {"schema": {"type": "string"}}
    if said.redirect:
        responses[said.redirect_status] = {
            "description": said.redirect,
            "headers": _headers(("Location", "Referrer-Policy")),
        }
    return responses


def _answer(answer: Any, shapes: Shapes) -> Schema:
    if isinstance(answer, Raw):
        content = {kind: {"schema": shapes.of(answer.body)} for kind in answer.media_types}
        return {"description": "As asked.", "headers": _headers(()), "content": content}
    envelope = {
        "type": "object",
        "required": ["data"],
        "properties": {"data": shapes.of(answer), "message": {"type": "string"}},
    }
    return {
        "description": "Done.",
        "headers": _headers(_carried(answer)),
        "content": {_JSON: {"schema": envelope}},
    }


def _carried(answer: Any) -> tuple[str, ...]:
    """Headers of any of the types that an answer may be."""
    members = (answer, *get_args(answer)) if get_origin(answer) else (answer,)
    return tuple(dict.fromkeys(name for member in members for name in carried(member)))


def _headers(names: tuple[str, ...]) -> Schema:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in (*_EVERYWHERE, *names)}


on_change(_text.cache_clear)
