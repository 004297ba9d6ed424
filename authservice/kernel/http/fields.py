"""Input fields that do not coerce: a value of another type is refused, with field and rule.

The limits of a text are checked before any other processing of it. Unicode normalisation takes
quadratic time for long sequences of combining marks in interpreters without the fix of CPython
issue 149079: 62 kB of marks take a second. So the length is checked first, and sequences of marks
are limited as in the stream-safe text format (UAX #15 section 13), which no writing system exceeds.
Longer texts are never normalised, matched, parsed or sent to the database.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar, NoReturn

from django.core.validators import ProhibitNullCharactersValidator
from django.utils import timezone
from rest_framework import serializers
from rest_framework.validators import ProhibitSurrogateCharactersValidator

from authservice.kernel import errors
from authservice.kernel.http import incoming
from authservice.kernel.languages import Phrase, of_field, phrase
from authservice.kernel.secret import Secret, typed_code
from authservice.kernel.settings import cached

MARKS = 30
LONGEST = 255  # characters, if the field has no maximum: a path parameter, a choice, a date

TOO_MANY_MARKS = phrase(
    "Must not contain more than %(count)d combining marks in a row.", count=MARKS
)
CONTROL = phrase("Must not contain control characters or broken Unicode.")
# PostgreSQL stores neither NUL nor lone surrogates, not even within JSON.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
# The Unicode categories Cc and Cs: UTF-8 cannot encode lone surrogates for the database.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
# The texts of the framework, repeated here: so our catalogues have their translations, whether or
# not the framework is an installed app.
_COMMON = {
    "required": phrase("This field is required."),
    "null": phrase("This field may not be null."),
}
TRUE_OR_FALSE = phrase("Must be true or false.")
_REPLACED = (ProhibitNullCharactersValidator, ProhibitSurrogateCharactersValidator)


class BrokenRule(Exception):  # noqa: N818 named for what it says
    """A value breaks this rule. Unlike the framework's exception it keeps the phrase."""

    def __init__(self, rule: Phrase) -> None:
        super().__init__(rule)
        self.rule = rule


class Text(serializers.CharField):
    """A string: NFC-normalised, without control characters, of bounded length, trimmed or not.

    `described` contains JSON Schema keywords for its format. A subclass overrides it; a field whose
    format is checked later passes its own. `refused` finds the characters that it must not have.
    """

    described: ClassVar[Mapping[str, Any]] = {"pattern": "^[^\\x00-\\x1f\\x7f-\\x9f]*$"}
    refused: ClassVar[re.Pattern[str]] = _CONTROL

    default_error_messages = {
        **_COMMON,
        "blank": phrase("This field may not be blank."),
        "invalid": phrase("Must be a string."),
        "control": CONTROL,
    }

    def __init__(
        self,
        *,
        max_length: int,
        trim_whitespace: bool = True,
        described: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(max_length=max_length, trim_whitespace=trim_whitespace, **options)
        # `_CONTROL` covers what these two validators of the framework check, and more.
        self.validators = [
            validator for validator in self.validators if not isinstance(validator, _REPLACED)
        ]
        if described is not None:
            self.described = described  # type: ignore[misc]

    def run_validation(self, data: Any = serializers.empty) -> Any:
        if isinstance(data, str):
            # Before the framework, which takes a text of control characters for an empty one.
            if self.refused.search(data):
                self.fail("control")
            data = unicodedata.normalize("NFC", data)
        elif data is not serializers.empty and data is not None:
            self.fail("invalid")
        return super().run_validation(data)


class JsonText(Text):
    """A text that is JSON itself, stored as it was sent; line feeds and tabs are allowed."""

    described: ClassVar[Mapping[str, Any]] = {
        "description": "JSON text (RFC 8259).",
        "pattern": "^[^\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f]*$",
    }
    # As `_CONTROL`, but tabs and line feeds are allowed.
    refused: ClassVar[re.Pattern[str]] = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")

    default_error_messages = {"json": phrase("Must be JSON text.")}

    def to_internal_value(self, data: str) -> str:
        text = data.strip()
        try:
            incoming.read_json(text)
        except ValueError:
            self.fail("json")
        return text


class SecretText(Text):
    """A text that must not appear in error reports: a `Secret`, even if the field was not sent.

    Never trimmed: a token with surrounding white space is a different text and not valid.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"trim_whitespace": False, **options})

    def run_validation(self, data: Any = serializers.empty) -> Any:
        return Secret(super().run_validation(data))


class TypedCode(SecretText):
    """A code as a person types or pastes it, read by `typed_code`. Its form is not checked here: a
    malformed code is a wrong one, and counts as an attempt."""

    described: ClassVar[Mapping[str, Any]] = {
        "description": "Spaces, hyphens, line ends and digits of other scripts are accepted.",
        "pattern": "^[^\\x00-\\x08\\x0e-\\x1f\\x7f-\\x84\\x86-\\x9f]*$",
    }

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"max_length": 64, **options})

    def run_validation(self, data: Any = serializers.empty) -> Any:
        if isinstance(data, str) and len(data) <= (self.max_length or 0):
            data = typed_code(data)
        return super().run_validation(data)


class AnyText(SecretText):
    """A text that another party wrote and that the request does not depend on. It is never refused:
    control characters are removed, and what exceeds the length is cut."""

    described: ClassVar[Mapping[str, Any]] = {}

    def run_validation(self, data: Any = serializers.empty) -> Any:
        if not isinstance(data, str):
            return Secret("")
        return Secret(_CONTROL.sub("", data[: self.max_length]))


class Password(SecretText):
    """A password as typed: never trimmed, never truncated. The password policy is checked
    elsewhere."""

    BYTES = 4096

    default_error_messages = dict.fromkeys(
        ("long", "max_length"), phrase("Must not exceed %(count)d bytes.", count=BYTES)
    )

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=self.BYTES, trim_whitespace=False, **options)

    def to_internal_value(self, data: str) -> str:
        text = super().to_internal_value(data)
        if len(text.encode()) > self.BYTES:
            self.fail("long")
        return text


class Moment(serializers.DateTimeField):
    """An ISO 8601 date or time in a query string, as an aware datetime; UTC if it has no offset."""

    default_error_messages = {
        **_COMMON,
        "moment": phrase("Must be a date or time in ISO 8601 format."),
    }

    def to_internal_value(self, text: Any) -> Any:
        if "T" in text:
            text = text.replace(" ", "+")  # the `+` of an offset that was not URL-encoded
        try:
            moment = datetime.fromisoformat(text)
            moment = moment if timezone.is_aware(moment) else moment.replace(tzinfo=UTC)
            return moment.astimezone(UTC)
        except (ValueError, OverflowError):
            self.fail("moment")


class Choice(serializers.ChoiceField):
    """One of several texts. `component` is the name that the API description gives to their list,
    so that a generated client has one type for this field and for answers with the same texts."""

    default_error_messages = {
        **_COMMON,
        "blank": phrase("This field may not be blank."),
    }

    def __init__(self, choices: Any, *, component: str = "", **options: Any) -> None:
        super().__init__(choices, **options)
        self.component = component

    def run_validation(self, data: Any = serializers.empty) -> Any:
        # The error message would repeat the control characters of the value.
        if isinstance(data, str) and _CONTROL.search(data):
            raise BrokenRule(CONTROL)
        return super().run_validation(data)

    def fail(self, key: str, **values: Any) -> NoReturn:
        if key == "invalid_choice":
            text = phrase('"%(given)s" is not a valid choice.', given=values["input"])
            raise BrokenRule(text)
        super().fail(key, **values)


class Flag(serializers.BooleanField):
    """A JSON boolean; strings and numbers are refused."""

    default_error_messages = {**_COMMON, "invalid": TRUE_OR_FALSE}

    def run_validation(self, data: Any = serializers.empty) -> Any:
        if data is not serializers.empty and not isinstance(data, bool):
            self.fail("invalid")
        return super().run_validation(data)


class JsonObject(serializers.Field):  # type: ignore[type-arg]
    """A JSON object whose members other code checks, such as the answer of an authenticator."""

    described: ClassVar[Mapping[str, Any]] = {"type": "object", "additionalProperties": True}

    default_error_messages = {**_COMMON, "invalid": phrase("Must be a JSON object.")}

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if not isinstance(data, dict):
            self.fail("invalid")
        return data


def read(schema: type[serializers.Serializer[Any]], data: dict[str, Any]) -> dict[str, Any]:
    """Validate `data` by `schema`. Raises `ValidationFailed` with the first error as its message.

    If `null_omits` of the schema is true, null counts as a field that was not sent.
    """
    if getattr(schema, "null_omits", False):
        data = {name: value for name, value in data.items() if value is not None}
    valid: dict[str, Any] = {}
    details: dict[str, list[Phrase]] = {}
    for name, field in _fields(schema).items():
        value = data.get(name, serializers.empty)
        try:
            if isinstance(value, str) and not isinstance(field, AnyText):
                # Before the field validates it.
                trimmed = value.strip() if getattr(field, "trim_whitespace", False) else value
                max_length = getattr(field, "max_length", None) or LONGEST
                if len(trimmed) > max_length:
                    raise BrokenRule(_too_long(field, max_length))
                if not trimmed.isascii() and too_many_marks(trimmed):
                    raise BrokenRule(TOO_MANY_MARKS)
            valid[name] = field.run_validation(value)
        except serializers.SkipField:
            continue
        except serializers.ValidationError as error:
            details[name] = [_rule(field, text) for text in error.detail]
        except BrokenRule as broken:
            details[name] = [broken.rule]
    if details:
        field_name, texts = next(iter(details.items()))
        raise errors.ValidationFailed(of_field(field_name, texts[:1]), details=details)
    return valid


def names(schema: type[serializers.Serializer[Any]]) -> frozenset[str]:
    """The names of the fields of a schema."""
    return frozenset(_fields(schema))


@cached
def _fields(schema: type[serializers.Serializer[Any]]) -> dict[str, Any]:
    # A serializer copies its fields for every instance, which takes longer than the validation.
    # Our fields have no state, so all requests can share one set.
    return dict(schema().fields)


def _too_long(field: Any, max_length: int) -> Phrase:
    rule = field.error_messages.get("max_length")
    return rule if isinstance(rule, Phrase) else too_long(max_length)


def _rule(field: Any, text: Any) -> Phrase:
    """The rule by which a field refused its value, as a phrase. The framework formats the phrase,
    and so turns it into a string."""
    if text.code == "max_length":
        return _too_long(field, field.max_length)
    rule = field.error_messages.get(text.code)
    return rule if isinstance(rule, Phrase) else Phrase(str(text))


def require(name: str, text: str, max_length: int = LONGEST) -> None:
    """Check a text that has no field, such as a path parameter. Raises `ValidationFailed`."""
    if len(text) > max_length:
        raise errors.invalid(name, too_long(max_length))
    if too_many_marks(text):
        raise errors.invalid(name, TOO_MANY_MARKS)


def require_texts(name: str, value: Any) -> None:
    """Check all texts of a JSON value, with keys and nested values, for the field `name` of the
    host project. The limit of the body limits their length. Raises `ValidationFailed`."""
    # Not recursive: the parser may accept deeper values than the stack has frames left. The name is
    # a text of the client too.
    pending = [name, value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            pending += [*item.keys(), *item.values()]
        elif isinstance(item, list):
            pending += item
        elif isinstance(item, str) and _UNSTORABLE.search(item):
            raise errors.invalid(name, CONTROL)
        elif isinstance(item, str) and too_many_marks(item):
            raise errors.invalid(name, TOO_MANY_MARKS)


def too_long(max_length: int) -> Phrase:
    """The rule that a longer text breaks."""
    return phrase(
        "Ensure this field has no more than %(max_length)d characters.", max_length=max_length
    )


def too_many_marks(text: str) -> bool:
    """Whether more than `MARKS` consecutive characters are combining marks (category M). Call it
    only for texts of limited length."""
    if text.isascii():
        return False
    in_a_row = 0
    for character in text:
        in_a_row = in_a_row + 1 if unicodedata.category(character)[0] == "M" else 0
        if in_a_row > MARKS:
            return True
    return False
