"""Limits on text input, checked before any other processing of a text.

Unicode normalisation takes quadratic time for long sequences of combining marks in interpreters
without the fix of CPython issue 149079: 62 kB of marks take a second. So the length is checked
first, and sequences of marks are limited as in the stream-safe text format (UAX #15 section 13),
which no writing system exceeds. Longer texts are never normalised, matched, parsed or sent to the
database.
"""

from __future__ import annotations

import re
from typing import Any
from unicodedata import category

from authservice.kernel import errors
from authservice.kernel.phrases import Phrase, phrase

MARKS = 30
LONGEST = 255  # characters, if the field has no maximum: a path parameter, a choice, a date

TOO_MANY_MARKS = phrase(
    "Must not contain more than %(count)d combining marks in a row.", count=MARKS
)


CONTROL = phrase("Must not contain control characters or broken Unicode.")
# PostgreSQL stores neither of them, also within JSON.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


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
    row = 0
    for character in text:
        row = row + 1 if category(character)[0] == "M" else 0
        if row > MARKS:
            return True
    return False


def require(name: str, text: str, max_length: int = LONGEST) -> None:
    """Check a text that has no field, such as a path parameter. Raises `ValidationFailed`."""
    if len(text) > max_length:
        raise errors.invalid(name, too_long(max_length))
    if too_many_marks(text):
        raise errors.invalid(name, TOO_MANY_MARKS)


def require_texts(name: str, value: Any) -> None:
    """Check all texts of a JSON value, keys and nested ones included, for the field `name` of the
    host project. The body has limited their length. Raises `ValidationFailed`."""
    # Not recursive: the parser may accept deeper values than the stack has frames left.
    rest = [name, value]
    while rest:
        one = rest.pop()
        if isinstance(one, dict):
            rest += [*one.keys(), *one.values()]
        elif isinstance(one, list):
            rest += one
        elif isinstance(one, str):
            _require_text(name, one)


def _require_text(name: str, text: str) -> None:
    if _UNSTORABLE.search(text):
        raise errors.invalid(name, CONTROL)
    if too_many_marks(text):
        raise errors.invalid(name, TOO_MANY_MARKS)
