"""What a serializer of the host project would accept and store: for the system checks and the API
description."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.utils.module_loading import import_string
from rest_framework import serializers

from authservice.core.conf import core
from authservice.core.users.further_fields import Serializer, has_update
from authservice.core.users.reserved_fields import complaint, reserved
from authservice.core.users.user_model import host


def load(path: str) -> Serializer:
    """The serializer at a dotted path. The text of a `TypeError` says why it cannot be used."""
    schema = import_string(path)
    if not (isinstance(schema, type) and issubclass(schema, serializers.Serializer)):
        raise TypeError("is not a class of serializers")
    model = getattr(getattr(schema, "Meta", None), "model", None)
    if issubclass(schema, serializers.ModelSerializer):
        if model is None or not issubclass(host().model, model):
            raise TypeError("is a ModelSerializer of another model than the user model")
        if is_open(schema):
            return schema
    try:
        schema().fields  # noqa: B018 a serializer finds its fields when they are read
    except Exception as wrong:
        raise TypeError(f"cannot be used: {wrong}") from wrong
    return schema


def is_open(schema: Serializer) -> bool:
    """Whether the serializer has fields that it does not name: later fields of the user model would
    be added to it."""
    meta = getattr(schema, "Meta", None)
    return getattr(meta, "fields", None) == serializers.ALL_FIELDS or hasattr(meta, "exclude")


def complaints(schema: Serializer) -> Iterator[tuple[str, str]]:
    """The fields that must not be there, and why."""
    for name, source, field in _leaves(schema().fields, "", ""):
        if "." not in name and name in reserved():
            yield name, "the name belongs to a field of authservice"
        elif source.endswith("*"):
            if not field.read_only:
                yield name, "with source='*' it can change every field"
        elif wrong := complaint(source):
            yield name, wrong


def not_stored(schema: Serializer) -> list[str]:
    """The fields that nothing stores: a serializer without `update` stores columns of users."""
    if has_update(schema):
        return []
    model = host().model._meta
    known = {field.name for field in (*model.concrete_fields, *model.many_to_many)}
    fields = schema().fields.items()
    return [name for name, field in fields if not field.read_only and field.source not in known]


def filled_columns() -> set[str]:
    """The attributes of the user that every sign-up fills."""
    try:
        schema = load(core.signup_serializer) if core.signup_serializer else None
    except (ImportError, TypeError):
        return set()  # reported by another check
    if schema is None or is_open(schema):
        return set()
    return {
        str(field.source)
        for field in schema().fields.values()
        if field.required or field.default is not serializers.empty
    }


def _leaves(fields: Any, name: str, source: str) -> Iterator[tuple[str, str, Any]]:
    """Each field, also in nested serializers, with its path of names and of attributes."""
    for own, field in fields.items():
        names, sources = f"{name}{own}", f"{source}{field.source}"
        yield names, sources, field
        inner = getattr(field, "child", field)
        if isinstance(inner, serializers.Serializer):
            yield from _leaves(inner.fields, f"{names}.", f"{sources}.")
