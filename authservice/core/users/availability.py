"""Whether an identifier is free, for sign-up forms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from authservice.core.users import identifiers, lookup
from authservice.kernel import errors


def is_available(field: str, value: str) -> bool:
    """Whether no user has the identifier. Raises `ValidationFailed` for a value that no new user
    may have."""
    form, rule, find, claim = _KINDS[field]
    if not form(value):
        raise errors.invalid(field, rule)
    if field == "email" and not identifiers.is_new_email(value):
        raise errors.invalid(field, identifiers.NEW_EMAIL_RULE)
    keys: dict[str, str | None] = dict.fromkeys(_KINDS)
    keys[field] = claim(value)
    # First by claim; users who have no account yet are found by the host's natural key.
    return not lookup.claimed_keys(**keys) and find(value) is None


_KINDS: Mapping[str, tuple[Any, str, Any, Any]] = {
    "email": (
        identifiers.is_email,
        identifiers.EMAIL_RULE,
        lookup.find_by_email,
        identifiers.email_key,
    ),
    "username": (
        identifiers.is_username,
        identifiers.USERNAME_RULE,
        lookup.find_by_username,
        identifiers.username_key,
    ),
    "phone": (
        identifiers.is_phone,
        identifiers.PHONE_RULE,
        lookup.find_by_phone,
        identifiers.phone_key,
    ),
}
