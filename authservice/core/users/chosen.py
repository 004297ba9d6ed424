"""Settings that say which users may do something: everyone, super admins, or those for whom a
function of the project returns true."""

from __future__ import annotations

from asgiref.sync import iscoroutinefunction
from django.utils.module_loading import import_string

from authservice.core.users.person import Person

# Values of such a setting; every other one is the dotted path of a function of the project.
EVERYONE, SUPER_ADMINS = "everyone", "super_admins"


def allows(setting: str, person: Person) -> bool:
    """Whether the setting allows it to this user."""
    if setting == EVERYONE:
        return True
    if setting == SUPER_ADMINS:
        return person.is_super_admin
    return bool(import_string(setting)(person.user))


def is_valid(setting: str) -> bool:
    """Whether `allows` can use the setting; for the system checks."""
    if setting in (EVERYONE, SUPER_ADMINS):
        return True
    try:
        function = import_string(setting)
    except ImportError:
        return False
    # What an async function returns is always true, so it would allow everyone.
    return callable(function) and not iscoroutinefunction(function)
