"""Reading the profiles that providers send: nothing in them has a type that one can rely on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from authservice.kernel.phrases import phrase
from authservice.oauth.provider import UserInfoFailed

_MAX_SUBJECT = 255
_MAX_TEXT = 2048
# What programs of providers write for a missing value.
_NO_SUBJECT = frozenset({"none", "null", "nil", "undefined", "nan", "0"})


def subject(value: Any) -> str:
    """The user's identifier, which is a text or a whole number. Raises `UserInfoFailed` if it is
    missing, empty or a text such as "None": all such users would be one."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip() or value.strip().lower() in _NO_SUBJECT:
        raise UserInfoFailed(phrase("The provider sent no identifier of the user."))
    if len(value) > _MAX_SUBJECT or not value.isprintable():
        raise UserInfoFailed(phrase("The provider sent an invalid identifier of the user."))
    return value


def text(value: Any) -> str:
    """A text, `""` for everything else and for one that no profile needs."""
    return value if isinstance(value, str) and len(value) <= _MAX_TEXT else ""


def url(value: Any) -> str:
    """An https URL, `""` for everything else."""
    return value if text(value).startswith("https://") and value.isprintable() else ""


def mapping(value: Any) -> Mapping[str, Any]:
    """An object, an empty one for everything else."""
    return value if isinstance(value, Mapping) else {}
