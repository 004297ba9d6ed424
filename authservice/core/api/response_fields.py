"""Further fields of responses about the signed-in user, as JSON values."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Manager, Model
from django.db.models.fields.files import FieldFile
from django.utils.functional import Promise

from authservice.core.users import user_fields
from authservice.kernel.http.envelope import utc


def shown(user: Any) -> dict[str, Any]:
    """The fields of `CORE.USER_FIELDS` of a user."""
    return {
        name: as_json(user_fields.value(user, path)) for name, path in user_fields.paths().items()
    }


def attributes() -> dict[str, tuple[Any, bool]]:
    """The field of a model, or another attribute, behind each name, and whether there may be no row
    that has it; for the API description."""
    paths = user_fields.paths().items()
    return {name: (user_fields.attribute(path), "." in path) for name, path in paths}


def as_json(value: Any) -> Any:
    """Times are UTC as in all responses, durations seconds, files their URL, rows their primary
    key. Raises `TypeError` for a value of another type."""
    if isinstance(value, bool | int | float | None):
        return value
    if isinstance(value, datetime):
        return utc(value)
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, FieldFile):
        return value.url if value else ""
    if isinstance(value, Model):
        return str(value.pk)
    if isinstance(value, str | Decimal | UUID | Promise):
        return str(value)
    return _collected(value)


def _collected(value: Any) -> Any:
    if isinstance(value, Manager):
        return [as_json(one) for one in value.all()]
    if isinstance(value, Mapping):
        return {str(name): as_json(one) for name, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [as_json(one) for one in value]
    raise TypeError(f"A {type(value).__name__} in CORE.USER_FIELDS has no JSON value.")
