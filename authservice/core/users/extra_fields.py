"""Extra fields of sign-up and profile, by a serializer of the host project.

`CORE.SIGNUP_SERIALIZER` and `CORE.PROFILE_SERIALIZER` name a serializer of one of two kinds:

- A `ModelSerializer` of the user model. Its values are set on the new user before the insert, or
  update the columns of the user, without a further statement.
- Any serializer with a method `update(self, user, validated_data)`, which stores the values where
  it likes. Values of columns of the user model are set before the insert too, since those columns
  may have no default.

Everything is stored in the transaction of the sign-up or the change, so an error stores nothing.
The system checks and the API description ask what a serializer would accept and store.
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
from authservice.core.users.user_fields import complaint, reserved
from authservice.core.users.user_model import host
from authservice.kernel import databases, errors, languages

Serializer = type[serializers.Serializer[Any]]


class ExtraFields:
    """Validated values of extra fields. `initial_data` is what the client sent, as JSON values."""

    def __init__(self, serializer: Any = None) -> None:
        self._serializer = serializer
        self.initial_data: dict[str, Any] = {}
        self.values: Mapping[str, Any] = {}
        if serializer is None:
            return
        self.initial_data, self.values = dict(serializer.initial_data), serializer.validated_data
        for name in reserved().intersection(self.values):
            # A system check reports such a field, unless `validate` of the serializer adds it.
            raise ImproperlyConfigured(f"{name!r} must not be an extra field of users.")

    def __bool__(self) -> bool:
        return bool(self.values)

    def assign(self, user: Any) -> None:
        """Set the values of columns on a user who is not inserted yet."""
        for name, value in self.values.items():
            if _is_column(name):
                setattr(user, name, value)

    def store(self, user: Any) -> None:
        """Store the values after the user is inserted: by `update` of the serializer, or those of
        many-to-many relations. Raises `ValidationFailed`."""
        if self._has_update():
            self._update(user)
        else:
            self._set_many(user)

    def change(self, user: Any) -> list[str]:
        """Change a stored user; returns the names of the changed fields. Raises `ValidationFailed`
        and `Conflict`."""
        with host_fields.saving(**{name: name for name in self.initial_data}):
            if self._has_update():
                self._update(user)
                return sorted(self.initial_data)
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
            serializer = self._serializer
            _validated(
                type(serializer)(
                    serializer.instance,
                    data=self.initial_data,
                    partial=serializer.partial,
                    context=serializer.context,
                )
            )

    def _has_update(self) -> bool:
        return self._serializer is not None and has_update(type(self._serializer))

    def _update(self, user: Any) -> None:
        self._serializer.instance = user
        try:
            self._serializer.save()
        except serializers.ValidationError as error:
            raise _failure(error.detail) from error
        except ModelValidationError as error:
            raise _failure(serializers.as_serializer_error(error)) from error

    def _set_many(self, user: Any) -> list[str]:
        many_to_many = {field.name for field in host().model._meta.many_to_many}
        names = [name for name in self.values if name in many_to_many]
        for name in names:
            getattr(user, name).set(self.values[name])
        return names


NOTHING = ExtraFields()


def of_columns(values: Mapping[str, Any]) -> ExtraFields:
    """Values for columns of the user model that came from another place than the request."""
    fields = ExtraFields()
    fields.values = values
    return fields


def at_signup(values: Mapping[str, Any], request: Any = None) -> ExtraFields:
    """Validate the extra fields of a sign-up; `values` may have other fields too. Raises
    `ValidationFailed`."""
    schema = signup_serializer()
    if schema is None:
        return NOTHING
    return _validated(schema(data=_picked(schema, values), context={"request": request}))


def of_profile(user: Any, values: Mapping[str, Any], request: Any = None) -> ExtraFields:
    """As `at_signup`, for a change of the profile of `user`. Fields that are not sent stay as they
    are."""
    schema = profile_serializer()
    picked = _picked(schema, values) if schema else {}
    if schema is None or not picked:
        return NOTHING
    return _validated(schema(user, data=picked, partial=True, context={"request": request}))


def names_at_signup() -> Collection[str]:
    """The names of the extra fields of a sign-up."""
    schema = signup_serializer()
    return accepted(schema) if schema else ()


def names_of_profile() -> Collection[str]:
    """The names of the extra fields of a profile."""
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
            return schema  # every caller refuses it by `is_open`
    try:
        schema().fields  # noqa: B018 a serializer finds its fields when they are read
    except Exception as error:
        raise TypeError(f"cannot be used: {error}") from error
    return schema


def is_open(schema: Serializer) -> bool:
    """Whether the serializer has fields that it does not name: later fields of the user model would
    be added to it."""
    meta = getattr(schema, "Meta", None)
    return getattr(meta, "fields", None) == serializers.ALL_FIELDS or hasattr(meta, "exclude")


def complaints(schema: Serializer) -> Iterator[tuple[str, str]]:
    """The fields that the serializer must not have, each with the reason."""
    for name, source, field in _leaves(schema().fields, "", ""):
        if "." not in name and name in reserved():
            yield name, "the name belongs to a field of authservice"
        elif source.endswith("*"):
            if not field.read_only:
                yield name, "with source='*' it can change every field"
        elif reason := complaint(source):
            yield name, reason


def not_stored(schema: Serializer) -> list[str]:
    """The fields that nothing stores: a serializer without `update` stores only columns and
    many-to-many relations of the user model."""
    if has_update(schema):
        return []
    model = host().model._meta
    stored = {field.name for field in (*model.concrete_fields, *model.many_to_many)}
    fields = schema().fields.items()
    return [name for name, field in fields if not field.read_only and field.source not in stored]


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


def _picked(schema: Serializer, values: Mapping[str, Any]) -> dict[str, Any]:
    # Only the fields of the serializer: it needs neither the password nor the address.
    return {name: value for name, value in values.items() if name in accepted(schema)}


def _validated(serializer: Any) -> ExtraFields:
    with languages.of_texts():
        valid = serializer.is_valid()
    if not valid:
        raise _failure(serializer.errors)
    return ExtraFields(serializer)


def _failure(detail: Any) -> errors.ValidationFailed:
    """The error that names the first invalid field."""
    details = dict(_flat(detail, ""))
    name, texts = next(iter(details.items()))
    return errors.ValidationFailed(languages.of_field(name, texts[:1]), details=details)


def _flat(detail: Any, path: str) -> Iterator[tuple[str, list[str]]]:
    """Each invalid field with its texts; nested fields by a path such as `address.city`."""
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            yield from _flat(inner, f"{path}.{name}" if path else str(name))
    elif texts := [str(text) for text in detail if not isinstance(text, Mapping)]:
        yield path or "non_field_errors", texts
    else:
        for index, inner in enumerate(detail):
            yield from _flat(inner, f"{path}.{index}")


def _is_column(name: str) -> bool:
    return name in {field.name for field in host().model._meta.concrete_fields}


def _leaves(fields: Any, name: str, source: str) -> Iterator[tuple[str, str, Any]]:
    """Each field, also in nested serializers, with its path of names and of attributes."""
    for own_name, field in fields.items():
        name_path, source_path = f"{name}{own_name}", f"{source}{field.source}"
        yield name_path, source_path, field
        inner = getattr(field, "child", field)
        if isinstance(inner, serializers.Serializer):
            yield from _leaves(inner.fields, f"{name_path}.", f"{source_path}.")
