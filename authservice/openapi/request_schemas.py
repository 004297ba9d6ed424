"""The input of a route: serializers and path converters as JSON Schema.

A field class declares JSON Schema keywords in `described`; they override those of its base class.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.urls import converters
from rest_framework import serializers

from authservice.kernel.http import bounds

Schema = dict[str, Any]

_FIELDS: tuple[tuple[type[serializers.Field[Any, Any, Any, Any]], Schema], ...] = (
    (serializers.BooleanField, {"type": "boolean"}),
    (serializers.IntegerField, {"type": "integer"}),
    (serializers.FloatField, {"type": "number"}),
    (serializers.EmailField, {"type": "string", "format": "email"}),
    (serializers.URLField, {"type": "string", "format": "uri"}),
    (serializers.UUIDField, {"type": "string", "format": "uuid"}),
    (serializers.DateTimeField, {"type": "string", "format": "date-time"}),
    (serializers.DateField, {"type": "string", "format": "date"}),
    (serializers.CharField, {"type": "string"}),
    (serializers.DictField, {"type": "object"}),
    (serializers.JSONField, {}),
)
_CONVERTERS: Mapping[type, Schema] = {
    # Control characters are refused, see `kernel.http.fields`.
    converters.StringConverter: {
        "type": "string",
        "maxLength": bounds.LONGEST,
        "pattern": r"^[^/\x00-\x1f\x7f-\x9f]+$",
    },
    converters.IntConverter: {"type": "integer", "minimum": 0},
    converters.UUIDConverter: {"type": "string", "format": "uuid"},
}
_FILLED: Schema = {"type": "string", "minLength": 1}
_BOUNDS = {
    "max_length": "maxLength",
    "min_length": "minLength",
    "max_value": "maximum",
    "min_value": "minimum",
}


def body(schema: type[serializers.Serializer[Any]]) -> Schema:
    """The JSON object that a route accepts. Unknown fields are ignored."""
    fields = schema().fields
    nullable = getattr(schema, "null_omits", False)
    return {
        "type": "object",
        "required": [name for name, given in fields.items() if given.required],
        "properties": {
            name: _nullable(field(given)) if nullable else field(given)
            for name, given in fields.items()
        },
        **_choice(schema),
    }


def needed(schema: type[serializers.Serializer[Any]]) -> bool:
    """Whether the body is required. An empty body counts as an empty object."""
    described = body(schema)
    return bool(described["required"] or {"oneOf", "anyOf"} & set(described))


def query(schema: type[serializers.Serializer[Any]]) -> Iterator[Schema]:
    """A parameter for each field of a query string."""
    for name, given in schema().fields.items():
        # An empty parameter counts as absent.
        empty = {} if given.required else {"allowEmptyValue": True}
        parameter = {"name": name, "in": "query", "required": given.required, **empty}
        yield {**parameter, "schema": field(given)}


def path(parameters: Mapping[str, Any]) -> Iterator[Schema]:
    """A parameter for each converter of a path."""
    for name, converter in parameters.items():
        schema = _CONVERTERS.get(
            type(converter), {"type": "string", "pattern": _anchored(converter)}
        )
        yield {"name": name, "in": "path", "required": True, "schema": dict(schema)}


def field(given: Any) -> Schema:
    """The schema of one field."""
    if isinstance(given, serializers.ListField):
        schema: Schema = {"type": "array", "items": field(given.child)}
    elif isinstance(given, serializers.ChoiceField):
        schema = {"enum": list(given.choices)}
    else:
        schema = {**_plain(given), **_bounds(given), **getattr(given, "described", {})}
    if given.allow_null:
        schema = _nullable(schema)
    if isinstance(given.default, str | int | bool) and given.default != "":
        schema["default"] = given.default
    if given.help_text:
        schema["description"] = str(given.help_text)
    return _blank(given, schema)


def _plain(given: Any) -> Schema:
    for kind, schema in _FIELDS:
        if isinstance(given, kind):
            return dict(schema)
    raise TypeError(f"{type(given)} has no schema")


def _bounds(given: Any) -> Schema:
    bounds = {word: getattr(given, name, None) for name, word in _BOUNDS.items()}
    return {word: bound for word, bound in bounds.items() if bound is not None}


def _blank(given: Any, schema: Schema) -> Schema:
    """State whether an empty string is allowed, even if it does not match the format or pattern."""
    if schema.get("type") != "string":
        return schema
    if not getattr(given, "allow_blank", False):
        return {"minLength": 1, **schema}
    if "format" in schema or not re.search(schema.get("pattern", ""), ""):
        return {"anyOf": [{"type": "string", "maxLength": 0}, schema]}
    return schema


def _nullable(schema: Schema) -> Schema:
    if isinstance(schema.get("type"), str) and "enum" not in schema:
        return {**schema, "type": [schema["type"], "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


def _choice(schema: Any) -> Schema:
    """Which fields exclude or require each other. An empty string or null counts as absent."""
    either, any_of = getattr(schema, "exactly_one", ()), getattr(schema, "at_least_one", ())
    if either:
        alongside = getattr(schema, "alongside", {})
        return {"oneOf": [_only(name, either, alongside.get(name, ())) for name in either]}
    if any_of and getattr(schema, "null_omits", False):
        return {"anyOf": [_with({name: {"not": {"type": "null"}}}) for name in any_of]}
    return {"anyOf": [_with({name: _FILLED}) for name in any_of]} if any_of else {}


def _only(name: str, either: Sequence[str], alongside: Sequence[str]) -> Schema:
    """One of several fields that exclude each other, with the fields it requires."""
    schema = _with(dict.fromkeys((name, *alongside), _FILLED))
    schema["properties"] |= {other: {"maxLength": 0} for other in either if other != name}
    return schema


def _with(needed: Mapping[str, Schema]) -> Schema:
    return {"required": list(needed), "properties": {k: dict(v) for k, v in needed.items()}}


def _anchored(converter: Any) -> str:
    return f"^(?:{converter.regex})$"
