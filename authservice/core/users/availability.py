"""Whether an identifier is free, for sign-up forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from authservice.core.users import identifiers, lookup
from authservice.core.users.identifiers import Identifier
from authservice.core.users.person import Person
from authservice.kernel import errors


def is_available(field: str, value: str) -> bool:
    """Whether no user has the identifier. Raises `ValidationFailed` for a value that no new user
    may have."""
    kind, find = _KINDS[field]
    if not kind.accepts(value):
        raise errors.invalid(field, kind.rule)
    if kind is identifiers.EMAIL and not identifiers.is_new_email(value):
        raise errors.invalid(field, identifiers.NEW_EMAIL_RULE)
    keys: dict[str, str | None] = dict.fromkeys(_KINDS)
    keys[field] = kind.key(value)
    # First by claim; users who have no account yet are found by the host's natural key.
    name = value if kind is identifiers.USERNAME else ""
    return not lookup.claimed_keys(**keys, name=name) and find(value) is None


_KINDS: Mapping[str, tuple[Identifier, Callable[[str], Person | None]]] = {
    "email": (identifiers.EMAIL, lookup.find_by_email),
    "username": (identifiers.USERNAME, lookup.find_by_username),
    "phone": (identifiers.PHONE, lookup.find_by_phone),
}
