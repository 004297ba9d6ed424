"""Functions that read the claims of providers, whose values may have any type.

Every claim is read by one of these functions. `null` and `""` count as absent. Data that a login
does not need are left out if they cannot be read; only an identifier of the user that is missing or
invalid is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from authservice.kernel.languages import phrase
from authservice.oauth.provider import UserInfoFailed

_MAX_SUBJECT = 255
_MAX_TEXT = 2048
# What programs of providers write for a missing value.
_NO_SUBJECT = frozenset({"none", "null", "nil", "undefined", "nan", "0"})


def subject(value: Any) -> str:
    """The user's identifier, which is a text or a whole number. Raises `UserInfoFailed` if it is
    missing, empty or a text such as "None": all such users would be one.

    OpenID Connect requires a text. Some providers send a number, which is read as its digits, since
    a provider does not have two users who differ in the type alone.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        # Python refuses to print numbers of thousands of digits. Such a number becomes a text that
        # is refused as too long.
        value = str(value) if abs(value) < 10**_MAX_SUBJECT else "-" * (_MAX_SUBJECT + 1)
    if not isinstance(value, str) or not value.strip() or value.strip().lower() in _NO_SUBJECT:
        raise UserInfoFailed(phrase("The provider sent no identifier of the user."))
    if len(value) > _MAX_SUBJECT or not value.isprintable():
        raise UserInfoFailed(phrase("The provider sent an invalid identifier of the user."))
    return value


def text(value: Any) -> str:
    """A text; `""` for everything else, and for a text that is too long for a profile."""
    return value if isinstance(value, str) and len(value) <= _MAX_TEXT else ""


def flag(value: Any) -> bool:
    """A boolean, which some providers send as a text or a number: `true`, `"true"`, `1` and `"1"`
    are true, everything else is false."""
    if isinstance(value, str):
        return value.strip().lower() in ("true", "1")
    return value is True or (type(value) is int and value == 1)


def address(value: Any) -> str:
    """An e-mail address: a text, or the first one of a list."""
    addresses = _addresses(value)
    return addresses[0] if addresses else ""


def verified_address(value: Any, verified: Any) -> tuple[str, bool]:
    """An e-mail address, and whether the flag beside it says that it is verified. A flag beside
    several addresses does not say which of them it means."""
    single = len(_addresses(value)) == 1
    return address(value), single and flag(verified)


def _addresses(value: Any) -> list[str]:
    entries = value if isinstance(value, list | tuple) else [value]
    return [text(entry) for entry in entries if text(entry)]


def scopes(value: Any) -> tuple[str, ...]:
    """Scopes, which are one text or a list; an entry of the list may be a text of several too."""
    entries = [value] if isinstance(value, str) else value
    if not isinstance(entries, list | tuple):
        return ()
    words = [word for entry in entries for word in text(entry).replace(",", " ").split()]
    return tuple(dict.fromkeys(words))


def url(value: Any) -> str:
    """An https URL; `""` for everything else."""
    return value if text(value).startswith("https://") and value.isprintable() else ""


def mapping(value: Any) -> Mapping[str, Any]:
    """A JSON object; an empty one for everything else."""
    return value if isinstance(value, Mapping) else {}


def present(values: Mapping[str, Any]) -> dict[str, Any]:
    """The claims that are not absent."""
    return {name: value for name, value in values.items() if value is not None and value != ""}
