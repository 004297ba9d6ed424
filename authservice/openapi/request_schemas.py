"""Request bodies, query strings and path parameters as JSON Schema: serializers, converters, and
the extra fields of users that the host project defines.

A field class declares JSON Schema keywords in `described`; they override those of its base class.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from decimal import Decimal
from typing import Any

from django.db import models
from django.urls.converters import StringConverter
from django.utils.encoding import force_str
from rest_framework import serializers

from authservice.kernel.http.fields import LONGEST, Choice, JsonObject
from authservice.openapi import examples

Schema = dict[str, Any]

# The first class in the method resolution order of a field decides.
_INPUT: Mapping[type, Schema] = {
    serializers.BooleanField: {"type": "boolean"},
    serializers.IntegerField: {"type": "integer"},
    serializers.FloatField: {"type": "number"},
    serializers.DecimalField: {"type": ["string", "number"]},
    serializers.DateTimeField: {"type": "string", "format": "date-time"},
    serializers.DateField: {"type": "string", "format": "date"},
    serializers.UUIDField: {"type": "string", "format": "uuid"},
    serializers.EmailField: {"type": "string", "format": "email"},
    serializers.URLField: {"type": "string", "format": "uri"},
    serializers.CharField: {"type": "string"},
    serializers.ListField: {"type": "array"},
    serializers.DictField: {"type": "object"},
}
_OUTPUT: Mapping[type, Schema] = {
    models.BooleanField: {"type": "boolean"},
    models.IntegerField: {"type": "integer"},
    models.FloatField: {"type": "number"},
    models.DurationField: {"type": "number"},
    models.DateTimeField: {"type": "string", "format": "date-time"},
    models.DateField: {"type": "string", "format": "date"},
    models.UUIDField: {"type": "string", "format": "uuid"},
    models.DecimalField: {"type": "string"},
    models.TimeField: {"type": "string"},
    models.CharField: {"type": "string"},
    models.TextField: {"type": "string"},
    models.FileField: {"type": "string"},
    models.ForeignKey: {"type": "string"},
}
_BOUNDS_OF_FIELD = {
    "max_length": "maxLength",
    "min_length": "minLength",
    "max_value": "maximum",
    "min_value": "minimum",
}


def of_input(field: Any) -> Schema:
    """The schema of a field of a serializer; without a type if this module does not know it."""
    if isinstance(field, serializers.ChoiceField):
        schema: Schema = {"enum": [*field.choices, *([None] if field.allow_null else [])]}
    elif isinstance(field, serializers.Serializer):
        schema = of_serializer(type(field))
    else:
        schema = _first(_INPUT, field)
        # A decimal number is sent as a text too, for which a largest number means nothing.
        bounds = {} if schema.get("type") == ["string", "number"] else _bounds(field)
        schema = _nullable(schema, null=field.allow_null) | bounds
    if field.help_text:
        schema["description"] = force_str(field.help_text)
    return schema


def _bounds(field: Any) -> Schema:
    """The bounds of a field that JSON can write; the bound of a duration is a `timedelta`."""
    bounds: Schema = {}
    for name, word in _BOUNDS_OF_FIELD.items():
        bound = getattr(field, name, None)
        bound = float(bound) if isinstance(bound, Decimal) else bound
        if isinstance(bound, int | float):
            bounds[word] = bound
    return bounds


def of_serializer(schema: type[serializers.Serializer[Any]]) -> Schema:
    """The object that a serializer accepts."""
    fields = {name: field for name, field in schema().fields.items() if not field.read_only}
    return {
        "type": "object",
        "required": [name for name, field in fields.items() if field.required],
        "properties": {name: of_input(field) for name, field in fields.items()},
    }


def of_attribute(attribute: Any, absent: bool) -> Schema:
    """The schema of a field of a model in a response; without a type for anything else, such as a
    property. `absent` says that there may be no row that has the field."""
    null = absent or getattr(attribute, "null", True)
    schema = _nullable(_first(_OUTPUT, attribute), null=null)
    if help_text := getattr(attribute, "help_text", ""):
        schema["description"] = force_str(help_text)
    return schema


def _first(schemas: Mapping[type, Schema], field: Any) -> Schema:
    candidates = (schemas[kind] for kind in type(field).__mro__ if kind in schemas)
    return dict(next(candidates, {}))


def _nullable(schema: Schema, *, null: bool) -> Schema:
    kind = schema.get("type")
    if not null or kind is None:
        return schema
    return {**schema, "type": [*([kind] if isinstance(kind, str) else kind), "null"]}


_Input = type[serializers.Serializer[Any]] | None

_JSON = "application/json"
_FORM = "application/x-www-form-urlencoded"
# Fields of other kinds coerce; see `kernel.http.fields`.
_FIELDS: Mapping[type, Schema] = {
    serializers.BooleanField: {"type": "boolean"},
    serializers.IntegerField: {"type": "integer"},
    serializers.DateTimeField: {"type": "string", "format": "date-time"},
    serializers.CharField: {"type": "string"},
    JsonObject: {"type": "object"},
}
# A segment of a path. Control characters and percent signs are refused.
_SEGMENT: Schema = {
    "type": "string",
    "maxLength": LONGEST,
    "pattern": r"^[^/%\x00-\x1f\x7f-\x9f]+$",
}
# An enum instead of `maxLength`: client generators make a type of it that no other text fits.
_EMPTY: Schema = {"type": "string", "enum": [""]}
# One named component for all such fields. `_EMPTY` can have no name: client generators make no
# member of an empty text.
_NO_OBJECT: Schema = {"$ref": "#/components/schemas/EmptyObject"}
_EMPTY_OBJECT: Schema = {
    "type": "object",
    "maxProperties": 0,
    "description": "This field is left out or empty, because another one is given.",
}
_BOUNDS = {"max_length": "maxLength", "max_value": "maximum", "min_value": "minimum"}


def body(schema: _Input, components: dict[str, Schema], *, takes_form: bool) -> Schema:
    """The request body of a route, or an empty dict. An empty body counts as an empty object. Adds
    the named schemas of its fields to `components`."""
    if schema is None:
        return {}
    components.update(_named(schema))
    described = _object(schema)
    if any(_NO_OBJECT in option["properties"].values() for option in described.get("oneOf", ())):
        components["EmptyObject"] = _EMPTY_OBJECT
    required = bool({"oneOf", "anyOf", "minProperties"} & set(described) or described["required"])
    media_types = (_JSON, _FORM) if takes_form else (_JSON,)
    example = getattr(schema, "example", None) or examples.of_request(described, components)
    content = {media_type: {"schema": described, "example": example} for media_type in media_types}
    return {**({"required": True} if required else {}), "content": content}


def query_parameters(schema: _Input, components: dict[str, Schema]) -> Iterator[Schema]:
    """A parameter for each field of a query string. Adds the named schemas of its fields to
    `components`."""
    if schema is None:
        return
    components.update(_named(schema))
    fields = schema().fields
    for name, field in fields.items():
        # An empty parameter counts as absent.
        empty = {} if field.required else {"allowEmptyValue": True}
        parameter = {"name": name, "in": "query", "required": field.required, **empty}
        yield {**parameter, "schema": _field(field)}


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
    # All fields are optional. With `anyOf`, generators would make a type for each field.
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
    for name, field in fields.items():
        if name in needed:
            minimum = "minProperties" if isinstance(field, JsonObject) else "minLength"
            described[name] = {minimum: 1, **_content(field)}
        elif name in either:
            described[name] = dict(_NO_OBJECT if isinstance(field, JsonObject) else _EMPTY)
        elif getattr(schema, "null_omits", False):
            field_schema = _field(field)
            if isinstance(field_schema.get("type"), str):
                described[name] = {**field_schema, "type": [field_schema["type"], "null"]}
            else:
                described[name] = {"anyOf": [field_schema, {"type": "null"}]}
        else:
            described[name] = _field(field)
    required = [name for name, field in fields.items() if field.required or name in needed]
    extra_serializer = schema.extra_serializer() if hasattr(schema, "extra_serializer") else None
    added = (
        of_serializer(extra_serializer) if extra_serializer else {"required": [], "properties": {}}
    )
    # A body without required fields is a change, which has only the fields that change.
    required += added["required"] if required else []
    properties = {**described, **added["properties"]}
    return {"type": "object", "required": required, "properties": properties}


def _field(field: Any) -> Schema:
    """The schema of one field. Raises `TypeError` for a field that has none.

    It states whether an empty string is allowed, even if that does not match format or pattern.
    """
    schema = _content(field)
    if schema.get("type") != "string" or "enum" in schema:
        return schema
    if not getattr(field, "allow_blank", False):
        return {"minLength": 1, **schema}
    if "format" in schema or not re.search(schema.get("pattern", ""), ""):
        return {"anyOf": [{"type": "string", "maxLength": 0}, schema]}
    return schema


def _content(field: Any) -> Schema:
    """The schema of one field that is not empty."""
    if isinstance(field, Choice) and field.component:
        # In `allOf`, because a reference of OpenAPI 3.0 has no default beside it.
        schema: Schema = {"allOf": [{"$ref": f"#/components/schemas/{field.component}"}]}
    elif isinstance(field, serializers.ChoiceField):
        schema = _choices(field)
    else:
        kind = next((kind for kind in type(field).__mro__ if kind in _FIELDS), None)
        if kind is None:
            raise TypeError(f"{type(field)} has no schema")
        bounds = {word: getattr(field, name, None) for name, word in _BOUNDS.items()}
        schema = {
            **_FIELDS[kind],
            **{word: bound for word, bound in bounds.items() if bound is not None},
            **getattr(field, "described", {}),
        }
    if isinstance(field.default, str | int) and field.default != "":
        schema["default"] = field.default
    return schema


def _named(schema: type[serializers.Serializer[Any]]) -> dict[str, Schema]:
    """The schemas of the fields that have a name of their own."""
    choices = [choice for choice in schema().fields.values() if isinstance(choice, Choice)]
    return {choice.component: _choices(choice) for choice in choices if choice.component}


def _choices(field: Any) -> Schema:
    return {"type": "string", "enum": list(field.choices)}
