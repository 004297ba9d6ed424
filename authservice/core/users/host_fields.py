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
from authservice.kernel.phrases import of_field, phrase

logger = logging.getLogger("authservice.accounts")

REQUIRED = phrase("This field is required.")
SUFFIX = 9  # characters that make a username unique: "-1a2b3c4d"
_BASE = 21  # characters of a made-up username before its suffix
_SHORTEST = 3
# No name is made up for a field that is called like one of these, even if it accepts any text.
_PHONE = re.compile(r"phone|mobile|msisdn|(^|_)(tel|cell)(_|$)")


def held(name: str, text: str) -> Any:
    """The value of the field that a look-up compares with, None if the field cannot hold the text.

    A text field can hold what its validators refuse today: the row may be older than they are.
    """
    field = host().model._meta.get_field(name)
    connection = connections[databases.primary()]
    try:
        value = text if is_text(name) else field.to_python(text)
        if not is_text(name):
            field.run_validators(value)  # the range of numbers of this database
        field.get_db_prep_value(value, connection)
    except (ValidationError, ValueError, TypeError, OverflowError, ArithmeticError):
        return None
    return value


def set_value(user: Any, name: str, value: str, *, field: str) -> None:
    """Set a field of the host's user to what it makes of the value. Raises `ValidationFailed` with
    the rule that the value breaks; `field` is its name in the request."""
    of_host = host().model._meta.get_field(name)
    if value == "":
        setattr(user, name, None if of_host.null else "")
        return
    if is_text(name) and of_host.max_length and len(value) > of_host.max_length:
        rule = phrase("Must have at most %(count)d characters.", count=of_host.max_length)
        raise errors.invalid(field, rule)
    with languages.of_texts():
        try:
            cleaned = of_host.clean(value, user)
        except ValidationError as refusal:
            raise _failure({field: refusal.messages}) from refusal
    setattr(user, name, cleaned)


def is_text(name: str) -> bool:
    return isinstance(host().model._meta.get_field(name), CharField | TextField)


def must_be_given(name: str) -> bool:
    """Whether two users without a value of this field could not exist: the field is unique, and
    stores no NULL."""
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
    """A refusal of the block, which saves a row of the host's user, is an error of the API.

    Raises `ValidationFailed` for a `ValidationError` of the model or its receivers, with the texts
    of the fields of the request: `names` has their names by those of the host's fields. Raises
    `Conflict` if a constraint of the table refuses the row. The caller's transaction must end with
    the error.
    """
    try:
        yield
    except ValidationError as refusal:
        logger.warning("The user model refuses a row: %s", _names_of(refusal))
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
    """The same for a block that commits a transaction. A deferred constraint or trigger of the
    project refuses the row only then (PostgreSQL). A trigger of the project on one of our tables
    counts too; a constraint of ours is a fault of this service, which no client can correct."""
    try:
        yield
    except DatabaseError as refusal:
        if not (_is_of_host(refusal) or databases.is_of_trigger(refusal)):
            raise
        with saving():
            raise


def _is_of_host(refusal: DatabaseError) -> bool:
    """Whether a constraint of the project's table refuses the row, as PostgreSQL reports it."""
    model = host().model
    table = getattr(getattr(refusal.__cause__, "diag", None), "table_name", None)
    tables = {parent._meta.db_table for parent in (model, *model._meta.all_parents)}
    return isinstance(refusal, IntegrityError) and table in tables


def refused(refusal: ValidationError, names: Mapping[str, str]) -> errors.ValidationFailed:
    """The error for a refusal of the model. Texts about columns that are not in the request would
    show clients how the project stores its users."""
    with languages.of_texts():
        texts = _texts(refusal)
    shown = {**names, NON_FIELD_ERRORS: "non_field_errors"}
    return _failure({shown[name]: texts[name] for name in shown if texts.get(name)})


def _texts(refusal: ValidationError) -> Mapping[str, list[str]]:
    by_field = hasattr(refusal, "error_dict")
    return refusal.message_dict if by_field else {NON_FIELD_ERRORS: refusal.messages}


def _names_of(refusal: ValidationError) -> str:
    return ", ".join(getattr(refusal, "error_dict", {NON_FIELD_ERRORS: ""}))


def _failure(details: Mapping[str, list[str]]) -> errors.ValidationFailed:
    for name, texts in details.items():
        return errors.ValidationFailed(of_field(name, texts[:1]), details=details)
    return errors.ValidationFailed()
