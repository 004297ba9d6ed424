"""Creates a row in every table of authservice, with any valid values."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

from django.apps import apps
from django.contrib.auth import get_user_model
from django.db import models
from django.utils import timezone

from authservice.kernel.modules import installed


def labels() -> list[str]:
    """The labels of the installed modules that have tables."""
    return [config.label for config in installed() if any(config.get_models())]


def fill() -> None:
    """Create a row in each empty table."""
    for label in labels():
        for model in apps.get_app_config(label).get_models():
            row(model)


def row(model: type[models.Model]) -> Any:
    """An existing row of the model, or a new one."""
    rows = model._base_manager
    return rows.first() or rows.create(**_values(model))


def _values(model: type[models.Model]) -> dict[str, Any]:
    return {
        field.name: _value(field)
        for field in model._meta.concrete_fields
        if not field.has_default() and not field.null and not isinstance(field, models.AutoField)
    }


def _value(field: models.Field) -> Any:
    if isinstance(field, models.ForeignKey):
        return row(field.related_model or get_user_model())
    if field.choices:
        return field.choices[0][0]
    for kind, value in _FITTING:
        if isinstance(field, kind):
            return value() if callable(value) else value
    raise NotImplementedError(f"{field} of {field.model}")


_FITTING: list[tuple[type[models.Field], Any]] = [
    (models.DateTimeField, timezone.now),
    (models.DurationField, timedelta),
    (models.BooleanField, False),
    (models.IntegerField, 1),
    (models.UUIDField, uuid.uuid4),
    (models.JSONField, dict),
    (models.BinaryField, b"x"),
    (models.GenericIPAddressField, "192.0.2.1"),
    (models.CharField, "x"),
    (models.TextField, "x"),
]
