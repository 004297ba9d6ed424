"""The errors of a form: all of them at once, each text beside its field.

The API reports the first errors that it finds, which is enough for a program: its requests are
corrected once. A person would correct a field, send the form, and only then see the next error. So
after a refusal the page makes the checks that the API did not reach: empty fields, the rules for
passwords, the serializer of the project, and `is-available`, which has its own limit. This reveals
nothing that the API hides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from authservice.core.conf import core
from authservice.core.credentials import password_rules
from authservice.core.errors import (
    InvalidCredentials,
    InvalidPassword,
    PhoneAlreadyInUse,
    UserAlreadyExists,
    UsernameAlreadyExists,
)
from authservice.core.users import creation, extra_fields, host_fields
from authservice.core.users.creation import NewUser
from authservice.kernel.errors import Fault, ValidationFailed
from authservice.kernel.http.fields import require_texts
from authservice.kernel.languages import translated
from authservice.kernel.secret import Secret
from authservice.pages import form_fields
from authservice.pages.calls import Values
from authservice.pages.form_fields import Field
from authservice.pages.visitor import Visitor

# Refusals that the API finds before it checks the rules for a new password.
_BEFORE_RULES = (ValidationFailed.code, InvalidCredentials.code)
# By field: the name in a request to `is-available`, and the error of a sign-up if it is taken.
_UNIQUE_FIELDS: Mapping[str, tuple[str, type[Fault]]] = {
    "email": ("email", UserAlreadyExists),
    "username": ("username", UsernameAlreadyExists),
    "phone_number": ("phone", PhoneAlreadyInUse),
}
# What a password must not resemble.
_OF_USER = ("email", "username", "first_name", "last_name")


def of_form(
    visitor: Visitor, fault: Fault | None, fields: Sequence[Field], *, user: Any = None
) -> dict[str, str]:
    """The texts by field, and under "" what belongs to none of them. `user` is the user who gets a
    new password with the form."""
    errors = form_fields.errors_of(fault, fields)
    if fault is None or not _is_about_fields(fault, errors):
        return errors
    # This text replaces those of the API, which may not fit: the API says that exactly one of two
    # fields is required, while the form has only one of them.
    for field in fields:
        is_empty = not visitor.sent.get(field.name).strip()
        if field.required and field.name in visitor.sent and is_empty:
            errors[field.name] = translated(host_fields.REQUIRED)
    if fault.code not in _BEFORE_RULES:
        return errors
    for field in _without(errors, fields):
        if not field.rules:
            continue
        try:
            password = Secret(visitor.sent.get(field.name))
            password_rules.require_strong(password, user, field=field.name)
        except InvalidPassword as refusal:
            return errors | form_fields.errors_of(refusal, [field])
        except Fault:
            pass  # a validator cannot answer now; the API asks it again
    return errors


def of_signup(visitor: Visitor, fault: Fault | None, fields: Sequence[Field]) -> dict[str, str]:
    """The texts by field for the form of a sign-up, and under "" what belongs to no field."""
    if fault is None:
        return {}
    # The new user, with whom the validators compare the password; None for invalid values.
    names = [field.name for field in fields if field.name in _OF_USER]
    values = Values((name, visitor.sent.get(name).strip()) for name in names)
    try:
        user = creation.unsaved_user(NewUser(**values), values.get("username", ""))
    except Fault:
        user = None
    errors = of_form(visitor, fault, fields, user=user)
    if not _is_about_fields(fault, errors):
        return errors
    if fault.code == ValidationFailed.code:
        errors = {**_of_project(visitor, fields), **errors}
    # With "hide", neither the sign-up nor its page says which addresses have accounts.
    if core.signup_enumeration == "hide":
        return errors
    for field in _without(errors, fields):
        value = field.typed(visitor.sent)
        if field.name not in _UNIQUE_FIELDS or not value:
            continue
        name, taken_error = _UNIQUE_FIELDS[field.name]
        answer = visitor.call("is-available", body={name: value})
        if answer.fault is None and not answer.data["available"]:
            errors[field.name] = taken_error().text
    return errors


def _is_about_fields(fault: Fault, errors: Mapping[str, str]) -> bool:
    # The key of an error that belongs to no field is empty.
    return fault.code == ValidationFailed.code or any(errors)


def _without(errors: Mapping[str, str], fields: Sequence[Field]) -> list[Field]:
    return [field for field in fields if field.name not in errors]


def _of_project(visitor: Visitor, fields: Sequence[Field]) -> dict[str, str]:
    """What the project's serializer of the sign-up finds, by field. It gets all of its fields: the
    error of one that is missing would belong to no field."""
    own = [field for field in fields if field.of_host is not None]
    values = Values((field.name, field.typed(visitor.sent)) for field in own)
    try:
        for name in values:
            require_texts(name, values[name])
        extra_fields.at_signup(values, visitor.request)
    except ValidationFailed as fault:
        return form_fields.errors_of(fault, own)
    return {}
