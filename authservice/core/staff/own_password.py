"""Staff change their own password in Django admin by the rules of the API.

Without these rules an attacker with a stolen session of Django admin could try passwords on that
page without a limit, and a change would not end the sessions of the API.
"""

from __future__ import annotations

from django.db import transaction

from authservice.core.credentials import known_devices, passwords
from authservice.core.recovery import password_change, recent_proof
from authservice.core.staff.admin_login import METHOD
from authservice.core.users import lookup
from authservice.core.users.person import Person
from authservice.kernel import databases, errors, events
from authservice.kernel.client import Client
from authservice.kernel.secret import Secret


def check(person: Person, old: Secret, client: Client) -> None:
    """Check the current password; raises as `recent_proof.check_password` does. The attempt shares
    the counter of the API."""
    try:
        recent_proof.check_password(person, old, client, method=METHOD)
    except errors.InvalidCredentials:
        events.record("auth.password.change_failed", person, client, method=METHOD)
        raise


def change(person: Person, encoded: str, client: Client) -> Person:
    """Store the hash of a new password, end all sessions of the API and revoke all device tokens;
    returns the current user.

    `person` is the user as they were when `check` accepted the old password. Raises
    `InvalidCredentials` if that password is no longer current.
    """
    with transaction.atomic(using=databases.primary()):
        locked = passwords.lock_users({person.user.pk})
        present = lookup.find_by_pk(person.user.pk) if locked else None
        if present is None or not present.active or present.password != person.password:
            raise errors.InvalidCredentials
        password_change.store(present, encoded, client, kept=None, method=METHOD)
        known_devices.revoke_all(present)
    return present
