"""Whom a setting allows to do something: everyone, super admins, or whom the project chooses."""

from __future__ import annotations

from django.utils.module_loading import import_string

from authservice.core.users.person import Person

# Values of such a setting; every other one is the dotted path of a function of the project.
EVERYONE, SUPER_ADMINS = "everyone", "super_admins"


def allows(setting: str, person: Person) -> bool:
    if setting == EVERYONE:
        return True
    if setting == SUPER_ADMINS:
        return person.is_super_admin
    return bool(import_string(setting)(person.user))


def is_valid(setting: str) -> bool:
    """For the system checks."""
    if setting in (EVERYONE, SUPER_ADMINS):
        return True
    try:
        return callable(import_string(setting))
    except ImportError:
        return False
