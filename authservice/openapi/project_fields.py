"""Extra fields of users, which the host project defines, as JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django.db import models
from django.utils.encoding import force_str
from rest_framework import serializers

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
_BOUNDS = {
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
    for name, word in _BOUNDS.items():
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
