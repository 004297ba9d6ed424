"""Request bodies, query strings and path parameters as JSON Schema: serializers and converters.

A field class declares JSON Schema keywords in `described`; they override those of its base class.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from django.urls.converters import StringConverter
from rest_framework import serializers

from authservice.kernel.http import bounds
from authservice.kernel.http.fields import Choice
from authservice.openapi import examples, project_fields

Schema = dict[str, Any]
_Input = type[serializers.Serializer[Any]] | None

_JSON = "application/json"
_FORM = "application/x-www-form-urlencoded"
# Fields of other kinds coerce; see `kernel.http.fields`.
_FIELDS: Mapping[type, Schema] = {
    serializers.BooleanField: {"type": "boolean"},
    serializers.IntegerField: {"type": "integer"},
    serializers.DateTimeField: {"type": "string", "format": "date-time"},
    serializers.CharField: {"type": "string"},
}
# A segment of a path. Control characters and percent signs are refused.
_SEGMENT: Schema = {
    "type": "string",
    "maxLength": bounds.LONGEST,
    "pattern": r"^[^/%\x00-\x1f\x7f-\x9f]+$",
}
# Not `maxLength`: client generators make a type of this that no other text fits.
_EMPTY: Schema = {"type": "string", "enum": [""]}
_BOUNDS = {"max_length": "maxLength", "max_value": "maximum", "min_value": "minimum"}


def body(schema: _Input, components: dict[str, Schema], *, takes_form: bool) -> Schema:
    """The request body of a route, or an empty dict. An empty body counts as an empty object. Adds
    the named schemas of its fields to `components`."""
    if schema is None:
        return {}
    components.update(_named(schema))
    described = _object(schema)
    required = bool({"oneOf", "anyOf", "minProperties"} & set(described) or described["required"])
    media_types = (_JSON, _FORM) if takes_form else (_JSON,)
    example = getattr(schema, "example", None) or examples.of_request(described, components)
    content = {media_type: {"schema": described, "example": example} for media_type in media_types}
    return {**({"required": True} if required else {}), "content": content}


def query_parameters(schema: _Input, components: dict[str, Schema]) -> Iterator[Schema]:
    """A parameter for each field of a query string. Adds their named schemas to `components`."""
    if schema is None:
        return
    components.update(_named(schema))
    fields = schema().fields
    for name, given in fields.items():
        # An empty parameter counts as absent.
        empty = {} if given.required else {"allowEmptyValue": True}
        parameter = {"name": name, "in": "query", "required": given.required, **empty}
        yield {**parameter, "schema": _field(given)}


def path_parameters(parameters: Mapping[str, Any]) -> Iterator[Schema]:
    """A parameter for each converter of a path."""
    for name, converter in parameters.items():
        pattern = {"type": "string", "pattern": f"^(?:{converter.regex})$"}
        schema = _SEGMENT if type(converter) is StringConverter else pattern
        yield {"name": name, "in": "path", "required": True, "schema": schema}


def _object(schema: type[serializers.Serializer[Any]]) -> Schema:
    """The JSON object of a body. Unknown fields are ignored.

    Fields that exclude or require each other become alternatives that are complete objects, because
    client generators make types of these. An empty string or null counts as absent.
    """
    either, any_of = getattr(schema, "exactly_one", ()), getattr(schema, "at_least_one", ())
    if either:
        return {"oneOf": [_alternative(schema, name, either) for name in either]}
    described = _properties(schema, (), ())
    if any_of and described["required"]:
        return {"anyOf": [_alternative(schema, name, ()) for name in any_of]}
    # All are optional. Alternatives would be as many types, each with one field.
    return {**described, "minProperties": 1} if any_of else described


def _alternative(schema: Any, name: str, either: Collection[str]) -> Schema:
    """The object with the field `name`, and the fields that it requires. The others of `either` are
    absent or empty."""
    needed = (name, *getattr(schema, "alongside", {}).get(name, ()))
    return {"title": f"With {name}", **_properties(schema, needed, either)}


def _properties(schema: Any, needed: Collection[str], either: Collection[str]) -> Schema:
    """The object whose fields `needed` are not empty, unlike the others of `either`."""
    fields = schema().fields
    described = {}
    for name, given in fields.items():
        if name in needed:
            described[name] = {"minLength": 1, **_content(given)}
        elif name in either:
            described[name] = dict(_EMPTY)
        elif getattr(schema, "null_omits", False):
            described[name] = _nullable(_field(given))
        else:
            described[name] = _field(given)
    required = [name for name, given in fields.items() if given.required or name in needed]
    further = schema.further() if hasattr(schema, "further") else None
    added = project_fields.of_serializer(further) if further else {"required": [], "properties": {}}
    # A change has only the fields that change.
    required += added["required"] if required else []
    properties = {**described, **added["properties"]}
    return {"type": "object", "required": required, "properties": properties}


def _field(given: Any) -> Schema:
    """The schema of one field. Raises `TypeError` for a field that has none."""
    return _blank(given, _content(given))


def _content(given: Any) -> Schema:
    """The schema of one field that is not empty."""
    if isinstance(given, Choice) and given.component:
        # In `allOf`, because a reference of OpenAPI 3.0 has no default beside it.
        schema: Schema = {"allOf": [{"$ref": f"#/components/schemas/{given.component}"}]}
    elif isinstance(given, serializers.ChoiceField):
        schema = _choices(given)
    else:
        schema = {**_plain(given), **_bounds(given), **getattr(given, "described", {})}
    if isinstance(given.default, str | int) and given.default != "":
        schema["default"] = given.default
    return schema


def _named(schema: type[serializers.Serializer[Any]]) -> dict[str, Schema]:
    """The schemas of the fields that have a name of their own."""
    choices = [given for given in schema().fields.values() if isinstance(given, Choice)]
    return {given.component: _choices(given) for given in choices if given.component}


def _choices(given: Any) -> Schema:
    return {"type": "string", "enum": list(given.choices)}


def _plain(given: Any) -> Schema:
    for kind in type(given).__mro__:
        if kind in _FIELDS:
            return _FIELDS[kind]
    raise TypeError(f"{type(given)} has no schema")


def _bounds(given: Any) -> Schema:
    bounds = {word: getattr(given, name, None) for name, word in _BOUNDS.items()}
    return {word: bound for word, bound in bounds.items() if bound is not None}


def _blank(given: Any, schema: Schema) -> Schema:
    """State whether an empty string is allowed, even if it does not match the format or pattern."""
    if schema.get("type") != "string" or "enum" in schema:
        return schema
    if not getattr(given, "allow_blank", False):
        return {"minLength": 1, **schema}
    if "format" in schema or not re.search(schema.get("pattern", ""), ""):
        return {"anyOf": [{"type": "string", "maxLength": 0}, schema]}
    return schema


def _nullable(schema: Schema) -> Schema:
    if isinstance(schema.get("type"), str):
        return {**schema, "type": [schema["type"], "null"]}
    return {"anyOf": [schema, {"type": "null"}]}
