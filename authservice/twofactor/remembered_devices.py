"""Devices on which no code is asked for: known ones, by the signed token that each sign-in hands
out, where a code was given once and its owner asked for it.

Off unless `REMEMBER_TTL` says how long. It ends with the authenticator, with the password, and with
the token of the device; whoever has that token still needs the password.
"""

from __future__ import annotations

from django.db.models import QuerySet
from django.utils import timezone

from authservice.core.credentials import known_devices, passwords
from authservice.core.users.person import Person
from authservice.kernel import databases
from authservice.kernel.client import Client
from authservice.kernel.secret import Secret
from authservice.twofactor.conf import conf
from authservice.twofactor.models import Authenticator, RememberedDevice


def remember(authenticator: Authenticator, person: Person, device_token: Secret) -> None:
    """Remember a device from now on, if the host has that at all."""
    device = known_devices.known(device_token, person)
    if not conf.remember_ttl or device is None:
        return
    mark, until = passwords.fingerprint(person.password), timezone.now() + conf.remember_ttl
    _rows().update_or_create(
        authenticator_id=authenticator.pk,
        device_id=device,
        defaults={"password_fingerprint": mark, "expires_at": until},
    )


def is_remembered(authenticator: Authenticator, person: Person, client: Client) -> bool:
    """Whether the client's device is remembered."""
    device = known_devices.known(client.device_token, person) if conf.remember_ttl else None
    if device is None:
        return False
    fresh = _rows().filter(
        authenticator=authenticator.pk, device_id=device, expires_at__gt=timezone.now()
    )
    marks = fresh.values_list("password_fingerprint", flat=True)
    return any(passwords.matches_fingerprint(mark, person.password) for mark in marks)


def _rows() -> QuerySet[RememberedDevice]:
    return RememberedDevice.objects.using(databases.primary())
