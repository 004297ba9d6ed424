"""Values in the fields of the host's user model, and refusals of its model or table.

The fields decide what they accept: a login name may be a number, a UUID or a phone number. Whatever
clients send, and whatever this service makes up, goes through the functions of this file.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db import DatabaseError, DataError, IntegrityError, connections
from django.db.models import CharField, TextField

from authservice.core.errors import Conflict
from authservice.core.users.user_model import host
from authservice.kernel import databases, errors, languages, settings
from authservice.kernel.languages import of_field, phrase

logger = logging.getLogger("authservice.accounts")

REQUIRED = phrase("This field is required.")
SUFFIX = 9  # characters that make a username unique: "-1a2b3c4d"
_BASE = 21  # characters of a made-up username before its suffix
_SHORTEST = 3  # no username is made up if the column has less room before the suffix
# No username is made up for a field with such a name, even if the field accepts any text.
_PHONE = re.compile(r"phone|mobile|msisdn|(^|_)(tel|cell)(_|$)")


def lookup_value(name: str, text: str) -> Any:
    """The value to look for in the field of this name; None if the field cannot hold the text.

    A text field can hold what its validators refuse: a row may be older than the validators.
    """
    field = host().model._meta.get_field(name)
    connection = connections[databases.primary()]
    try:
        value = text if is_text(name) else field.to_python(text)
        if not is_text(name):
            field.run_validators(value)  # the range of numbers of this database
        field.get_db_prep_value(value, connection)  # only for its exceptions
    except (ValidationError, ValueError, TypeError, OverflowError, ArithmeticError):
        return None
    return value


def set_value(user: Any, name: str, value: str, *, field: str) -> None:
    """Set a field of the host's user to the value, as the field cleans it. Raises
    `ValidationFailed` with the rule that the value breaks; `field` is the name of the field in the
    request."""
    host_field = host().model._meta.get_field(name)
    if value == "":
        setattr(user, name, None if host_field.null else "")
        return
    if is_text(name) and host_field.max_length and len(value) > host_field.max_length:
        rule = phrase("Must have at most %(count)d characters.", count=host_field.max_length)
        raise errors.invalid(field, rule)
    with languages.of_texts():
        try:
            cleaned = host_field.clean(value, user)
        except ValidationError as refusal:
            raise _failure({field: refusal.messages}) from refusal
    setattr(user, name, cleaned)


def is_text(name: str) -> bool:
    return isinstance(host().model._meta.get_field(name), CharField | TextField)


def must_be_given(name: str) -> bool:
    """Whether each user needs a value of this field, since it is unique and stores no NULL: only
    one user could have the empty value."""
    field = host().model._meta.get_field(name) if name else None
    return field is not None and field.unique and not field.null


@settings.cached_for_host
def made_up_length() -> int:
    """The number of characters of a made-up username before its suffix; 0 if none must be made up
    for the host's model: it has no such field, or the field is for numbers, choices or phones."""
    name = host().username
    if not name or not is_text(name) or is_for_phones():
        return 0
    field = host().model._meta.get_field(name)
    length = min(_BASE, (field.max_length or 254) - SUFFIX)
    try:
        field.clean("u" * length + "-1a2b3c4d", host().model())
    except ValidationError:
        return 0
    return max(length, 0) if length >= _SHORTEST else 0


def is_for_phones() -> bool:
    """Whether the username of the host's model is a phone number, by the name of its field."""
    return bool(_PHONE.search(host().username.lower()))


def accepts(name: str, text: str) -> bool:
    """Whether a new user may have this value, written as the field itself writes it."""
    field = host().model._meta.get_field(name)
    try:
        return str(field.clean(text, host().model())) == text
    except (ValidationError, ValueError, TypeError, OverflowError, ArithmeticError):
        return False


@contextmanager
def saving(**names: str) -> Iterator[None]:
    """Context for a block that saves a row of the host's user: a refusal becomes an error of the
    API.

    Raises `ValidationFailed` for a `ValidationError` of the model or its receivers, with the texts
    about fields of the request: `names` maps the host's fields to the names of these fields in the
    request. Raises `Conflict` if a constraint of the table refuses the row. The caller's
    transaction must end with the error.
    """
    try:
        yield
    except ValidationError as refusal:
        columns = ", ".join(getattr(refusal, "error_dict", {NON_FIELD_ERRORS: ""}))
        logger.warning("The user model refuses a row: %s", columns)
        raise refused(refusal, names) from refusal
    except IntegrityError as refusal:
        logger.warning("The table of users refuses a row: %s", type(refusal.__cause__).__name__)
        raise Conflict from refusal
    except DataError as refusal:
        if databases.is_of_charset(refusal):
            raise
        logger.warning("The table of users refuses a value", exc_info=True)
        raise errors.ValidationFailed from refusal
    except DatabaseError as refusal:
        if not databases.is_of_trigger(refusal):
            raise
        logger.warning("A trigger of the project refuses a row", exc_info=True)
        raise errors.ValidationFailed from refusal


@contextmanager
def committing() -> Iterator[None]:
    """As `saving`, for a block that commits a transaction. A deferred constraint or trigger of the
    project refuses the row only then (PostgreSQL). A trigger of the project on one of our tables
    counts too; a constraint of ours is a fault of this service, which no client can correct."""
    try:
        yield
    except DatabaseError as refusal:
        # PostgreSQL reports the table of the constraint.
        model = host().model
        table = getattr(getattr(refusal.__cause__, "diag", None), "table_name", None)
        tables = {parent._meta.db_table for parent in (model, *model._meta.all_parents)}
        is_of_host = isinstance(refusal, IntegrityError) and table in tables
        if not (is_of_host or databases.is_of_trigger(refusal)):
            raise
        with saving():  # turns it into an error of the API
            raise


def refused(refusal: ValidationError, names: Mapping[str, str]) -> errors.ValidationFailed:
    """The error for a refusal of the model. It leaves out texts about columns that are not in the
    request, which would show clients how the project stores its users."""
    with languages.of_texts():
        texts: Mapping[str, list[str]] = (
            refusal.message_dict
            if hasattr(refusal, "error_dict")
            else {NON_FIELD_ERRORS: refusal.messages}
        )
    request_names = {**names, NON_FIELD_ERRORS: "non_field_errors"}
    return _failure({request_names[name]: texts[name] for name in request_names if texts.get(name)})


def _failure(details: Mapping[str, list[str]]) -> errors.ValidationFailed:
    """The error with all details, whose message names the first invalid field."""
    for name, texts in details.items():
        return errors.ValidationFailed(of_field(name, texts[:1]), details=details)
    return errors.ValidationFailed()
