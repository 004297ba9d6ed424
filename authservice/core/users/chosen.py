"""Settings that say which users may do something: everyone, super admins, or those for whom a
function of the project returns true."""

from __future__ import annotations

from django.utils.module_loading import import_string

from authservice.core.users.person import Person
from authservice.kernel.rules import EVERYONE, SUPER_ADMINS


def allows(setting: str, person: Person) -> bool:
    """Whether the setting allows it to this user."""
    if setting == EVERYONE:
        return True
    if setting == SUPER_ADMINS:
        return person.is_super_admin
    return bool(import_string(setting)(person.user))
