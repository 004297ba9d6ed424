"""Further fields of sign-up and profile, by a serializer of the host project.

`CORE.SIGNUP_SERIALIZER` and `CORE.PROFILE_SERIALIZER` name a serializer of one of two kinds:

- A `ModelSerializer` of the user model. Its values are set on the new user before the insert, or
  update the columns of the user, without a further statement.
- Any serializer with a method `update(self, user, validated_data)`, which stores the values where
  it likes. Values of columns of the user model are set before the insert too, since those columns
  may have no default.

Everything is stored in the transaction of the sign-up or the change, so an error stores nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.exceptions import ValidationError as ModelValidationError
from django.utils.module_loading import import_string
from rest_framework import serializers

from authservice.core.conf import core
from authservice.core.users import host_fields
from authservice.core.users.reserved_fields import reserved
from authservice.core.users.user_model import host
from authservice.kernel import databases, errors, languages
from authservice.kernel.phrases import of_field

Serializer = type[serializers.Serializer[Any]]


class FurtherFields:
    """Validated values of further fields. `given` is what the client sent, as JSON values."""

    def __init__(self, serializer: Any = None) -> None:
        self._serializer = serializer
        self.given: dict[str, Any] = {}
        self.values: Mapping[str, Any] = {}
        if serializer is None:
            return
        self.given, self.values = dict(serializer.initial_data), serializer.validated_data
        for name in reserved().intersection(self.values):
            # A system check reports it; here `validate` of the serializer may have added it.
            raise ImproperlyConfigured(f"{name!r} must not be a further field of users.")

    def __bool__(self) -> bool:
        return bool(self.values)

    def assign(self, user: Any) -> None:
        """Set the values on a user who is not inserted yet."""
        for name, value in self.values.items():
            if _is_column(name):
                setattr(user, name, value)

    def store(self, user: Any) -> None:
        """Store the rest, after the user is inserted. Raises `ValidationFailed`."""
        if self._has_update():
            self._update(user)
        else:
            self._set_many(user)

    def change(self, user: Any) -> list[str]:
        """Change a stored user; returns the names of the changed fields. Raises `ValidationFailed`
        and `Conflict`."""
        with host_fields.saving(**{name: name for name in self.given}):
            return self._change(user)

    def _change(self, user: Any) -> list[str]:
        if self._has_update():
            self._update(user)
            return sorted(self.given)
        columns = [name for name in self.values if _is_column(name)]
        changed = [name for name in columns if getattr(user, name) != self.values[name]]
        for name in changed:
            setattr(user, name, self.values[name])
        if changed:
            user.save(using=databases.primary(), update_fields=changed)
        return sorted(changed + self._set_many(user))

    def require_valid(self) -> None:
        """Validate again, after the database refused a value. Raises `ValidationFailed` if another
        user has taken a unique value meanwhile."""
        if self._serializer is not None:
            again = self._serializer
            _validated(
                type(again)(
                    again.instance, data=self.given, partial=again.partial, context=again.context
                )
            )

    def _has_update(self) -> bool:
        return self._serializer is not None and has_update(type(self._serializer))

    def _update(self, user: Any) -> None:
        self._serializer.instance = user
        try:
            self._serializer.save()
        except serializers.ValidationError as wrong:
            raise _failure(wrong.detail) from wrong
        except ModelValidationError as wrong:
            raise _failure(serializers.as_serializer_error(wrong)) from wrong

    def _set_many(self, user: Any) -> list[str]:
        names = [name for name in self.values if _is_many(name)]
        for name in names:
            getattr(user, name).set(self.values[name])
        return names


NOTHING = FurtherFields()


def of_columns(values: Mapping[str, Any]) -> FurtherFields:
    """Values for columns of the user model that came from another place than the request."""
    fields = FurtherFields()
    fields.values = values
    return fields


def at_signup(given: Mapping[str, Any], request: Any = None) -> FurtherFields:
    """Validate the further fields of a sign-up; `given` may have other fields. Raises
    `ValidationFailed`."""
    schema = signup_serializer()
    if schema is None:
        return NOTHING
    return _validated(schema(data=_picked(schema, given), context={"request": request}))


def of_profile(user: Any, given: Mapping[str, Any], request: Any = None) -> FurtherFields:
    """The same for a change of the profile of `user`. Fields that are not sent stay as they are."""
    schema = profile_serializer()
    picked = _picked(schema, given) if schema else {}
    if schema is None or not picked:
        return NOTHING
    return _validated(schema(user, data=picked, partial=True, context={"request": request}))


def names_at_signup() -> Collection[str]:
    """The names of the further fields of a sign-up."""
    schema = signup_serializer()
    return accepted(schema) if schema else ()


def names_of_profile() -> Collection[str]:
    """The same for a change of the profile."""
    schema = profile_serializer()
    return accepted(schema) if schema else ()


def signup_serializer() -> Serializer | None:
    return import_string(core.signup_serializer) if core.signup_serializer else None


def profile_serializer() -> Serializer | None:
    return import_string(core.profile_serializer) if core.profile_serializer else None


def has_update(schema: Serializer) -> bool:
    """Whether the serializer has a method `update` of its own, which stores the values."""
    inherited = (serializers.ModelSerializer.update, serializers.BaseSerializer.update)
    return schema.update not in inherited


@cache
def accepted(schema: Serializer) -> frozenset[str]:
    """The names of the fields that the serializer accepts."""
    return frozenset(name for name, field in schema().fields.items() if not field.read_only)


def _picked(schema: Serializer, given: Mapping[str, Any]) -> dict[str, Any]:
    # Only its own fields: a serializer needs neither the password nor the address.
    return {name: value for name, value in given.items() if name in accepted(schema)}


def _validated(serializer: Any) -> FurtherFields:
    with languages.of_texts():
        valid = serializer.is_valid()
    if not valid:
        raise _failure(serializer.errors)
    return FurtherFields(serializer)


def _failure(detail: Any) -> errors.ValidationFailed:
    """The error that names the first invalid field."""
    details = dict(_flat(detail, ""))
    name, texts = next(iter(details.items()))
    return errors.ValidationFailed(of_field(name, texts[:1]), details=details)


def _flat(detail: Any, path: str) -> Iterator[tuple[str, list[str]]]:
    """Each invalid field with its texts; nested fields by a path such as `address.city`."""
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            yield from _flat(inner, f"{path}.{name}" if path else str(name))
    elif texts := [str(one) for one in detail if not isinstance(one, Mapping)]:
        yield path or "non_field_errors", texts
    else:
        for place, inner in enumerate(detail):
            yield from _flat(inner, f"{path}.{place}")


def _is_column(name: str) -> bool:
    return name in {field.name for field in host().model._meta.concrete_fields}


def _is_many(name: str) -> bool:
    return name in {field.name for field in host().model._meta.many_to_many}
