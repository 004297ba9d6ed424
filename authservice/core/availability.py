"""Whether an identifier is free, for sign-up forms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from authservice.core import directory, identity
from authservice.kernel import errors


def is_free(field: str, value: str) -> bool:
    """Raises `ValidationFailed` where the value could not be taken by anybody."""
    form, rule, find, claim = _KINDS[field]
    if not form(value):
        raise errors.invalid(field, rule)
    if field == "email" and not identity.is_new_email(value):
        raise errors.invalid(field, identity.NEW_EMAIL_RULE)
    keys: dict[str, str | None] = dict.fromkeys(_KINDS)
    keys[field] = claim(value)
    # By claim first; users whom nobody has adopted yet are found by the host's natural key.
    return not directory.taken(**keys) and find(value) is None


_KINDS: Mapping[str, tuple[Any, str, Any, Any]] = {
    "email": (
        identity.is_email,
        identity.EMAIL_RULE,
        directory.find_by_email,
        identity.email_key,
    ),
    "username": (
        identity.is_username,
        identity.USERNAME_RULE,
        directory.find_by_username,
        identity.username_key,
    ),
    "phone": (
        identity.is_phone,
        identity.PHONE_RULE,
        directory.find_by_phone,
        identity.phone_key,
    ),
}
