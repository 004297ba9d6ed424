"""Remembered devices, which need no code at login: known devices, identified by the signed device
token of each login, on which the user entered a code and chose to remember the device.

Off unless `REMEMBER_TTL` is set. A device is no longer remembered once the authenticator is
removed, the password changes or the device token is revoked. An attacker with the device token
still needs the password.
"""

from __future__ import annotations

from django.utils import timezone

from authservice.core.credentials import known_devices, passwords
from authservice.core.users.person import Person
from authservice.kernel.client import Client
from authservice.kernel.secret import Secret
from authservice.twofactor.conf import conf
from authservice.twofactor.models import Authenticator, RememberedDevice


def remember(authenticator: Authenticator, person: Person, device_token: Secret) -> None:
    """Remember a device from now on, if `REMEMBER_TTL` is set."""
    device = known_devices.known(device_token, person)
    if not conf.remember_ttl or device is None:
        return
    fingerprint = passwords.fingerprint(person.password)
    until = timezone.now() + conf.remember_ttl
    RememberedDevice.objects.update_or_create(
        authenticator_id=authenticator.pk,
        device_id=device,
        defaults={"password_fingerprint": fingerprint, "expires_at": until},
    )


def is_remembered(authenticator: Authenticator, person: Person, client: Client) -> bool:
    """Whether the client's device is remembered."""
    device = known_devices.known(client.device_token, person) if conf.remember_ttl else None
    if device is None:
        return False
    fresh = RememberedDevice.objects.filter(
        authenticator=authenticator.pk, device_id=device, expires_at__gt=timezone.now()
    )
    stored = fresh.values_list("password_fingerprint", flat=True)
    return any(passwords.matches_fingerprint(one, person.password) for one in stored)
