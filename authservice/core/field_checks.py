"""System checks of the further fields of users: what a project adds must not be ours or secret."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.core.checks import CheckMessage, register

from authservice.core.conf import core
from authservice.core.users import further_schemas, reserved_fields, user_fields
from authservice.core.users.user_model import host
from authservice.kernel import settings as kernel_settings
from authservice.kernel.checks import declare, message

declare(
    {
        "authservice.E222": (
            "CORE.SIGNUP_SERIALIZER or CORE.PROFILE_SERIALIZER is not a serializer that can be"
            " used, so each sign-up or change of a profile fails.",
            "Use a ModelSerializer of the user model, or a Serializer with update(user, values).",
        ),
        "authservice.E223": (
            "A serializer in CORE has a field that is a right, an identifier or a credential of"
            " users, or a field of authservice: clients could change it.",
            "List the fields in Meta.fields, without this one. If only the name is taken, use"
            " another.",
        ),
        "authservice.E224": (
            "CORE.USER_FIELDS shows a field that is secret, that authservice shows itself, or that"
            " does not exist.",
            "Use names of fields and properties of the user model, and paths such as"
            " 'profile.city'.",
        ),
        "authservice.E225": (
            "A serializer in CORE accepts fields that are not columns of the user model, and does"
            " not store them.",
            "Add a method update(self, user, validated_data) that stores them and returns the"
            " user.",
        ),
    }
)

SERIALIZERS = ("signup_serializer", "profile_serializer")


def connect() -> None:
    register(check_fields, "authservice")


def check_fields(**_: Any) -> Iterator[CheckMessage]:
    if list(kernel_settings.complaints()):
        return
    for setting in SERIALIZERS:
        path = getattr(core, setting)
        if path:
            yield from _serializer(f"CORE.{setting.upper()}", path)
    yield from _user_fields()


def _serializer(setting: str, path: str) -> Iterator[CheckMessage]:
    try:
        schema = further_schemas.load(path)
    except ImportError:
        return  # authservice.E006
    except TypeError as wrong:
        yield message("authservice.E222", f"{setting} is {path!r}, which {wrong}.")
        return
    if further_schemas.is_open(schema):
        text = f"{setting} does not list its fields: Meta has fields='__all__' or exclude."
        yield message("authservice.E223", text)
        return
    for name, complaint in further_schemas.complaints(schema):
        yield message("authservice.E223", f"{setting} has the field {name!r}: {complaint}.")
    lost = further_schemas.not_stored(schema)
    if lost:
        yield message("authservice.E225", f"{setting} stores nowhere: {', '.join(lost)}.")


def _user_fields() -> Iterator[CheckMessage]:
    try:
        paths = user_fields.paths()
    except TypeError as wrong:
        yield message("authservice.E224", str(wrong))
        return
    for name, path in paths.items():
        complaint = _complaint(name, path)
        if complaint:
            yield message("authservice.E224", f"CORE.USER_FIELDS[{name!r}]: {complaint}.")


def _complaint(name: str, path: str) -> str:
    if name in reserved_fields.reserved():
        return f"{name!r} is the name of a field of authservice"
    if wrong := reserved_fields.complaint(path):
        return wrong
    try:
        found = user_fields.attribute(path)
    except AttributeError:
        return f"{path!r} is no field or property of {host().model._meta.label}"
    return f"{path!r} is a method" if user_fields.is_method(found) else ""
