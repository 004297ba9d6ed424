"""Known devices: the newest devices on which a user logged in have their own attempts.

A device token gives no access. It gives its client a separate limit, so that attackers who use up
the limit of an identifier cannot lock its owner out (the device cookie of OWASP's guide on slowing
down online guessing attacks). The account stores the ids of its newest devices and a version that
rises with each password change: an attacker cannot collect tokens for later, and a changed password
revokes all of them.
"""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import datetime

from django.db.models import F
from django.db.models.functions import Concat, Right

from authservice.core.models import DEVICES, Account
from authservice.core.users.person import Person
from authservice.kernel import databases
from authservice.kernel.client import Client, DeviceToken
from authservice.kernel.secret import Secret
from authservice.kernel.sql import Bound, Update, param

TTL = DeviceToken.TTL
_ID = 32  # hex characters of an id

# One statement, so that each of several parallel logins adds its own device. If a second factor was
# enabled after the login read the account, its session is not valid, and its device must not get
# attempts of its own at codes.
_ADD = Update(
    lambda: Account.objects.filter(
        user=param("user", Account), factor_version=param("factor_version", Account)
    ),
    lambda: {
        "device_ids": Right(Concat("device_ids", param("device_ids", Account)), DEVICES * _ID)
    },
)


def token(person: Person, device: uuid.UUID) -> Secret:
    return DeviceToken.issue(device, version=person.device_version, user=person.id)


def find_device(
    device_token: Secret, person: Person | None, *, since: datetime | None = None
) -> uuid.UUID | None:
    """The device of a token if it is a known one of this account, and the token was not issued
    before `since` (compared in whole seconds)."""
    valid = _read(device_token, person)
    if valid is None or (since is not None and valid.issued_at < int(since.timestamp())):
        return None
    return valid.device


def ids(person: Person) -> list[str]:
    """Ids of the known devices of the user, the oldest first."""
    joined: str = person.account_row.device_ids
    return [joined[start : start + _ID] for start in range(0, len(joined), _ID)]


def first_device(person: Person) -> uuid.UUID | None:
    """The device that the sign-up stored with the account."""
    device_ids = ids(person)
    return uuid.UUID(hex=device_ids[0]) if device_ids else None


def addition(person: Person, device: uuid.UUID) -> Bound:
    """The statement that adds a device of the user as the newest."""
    joined: str = person.account_row.device_ids
    person.account.device_ids = (joined + device.hex)[-DEVICES * _ID :]
    return _ADD.bound(
        databases.primary(),
        user=person.user.pk,
        factor_version=person.factor_version,
        device_ids=device.hex,
    )


def revoke_all(person: Person) -> None:
    """Revoke all device tokens of the user."""
    _renew(person, [])


def revoke_others(person: Person, client: Client) -> Secret:
    """Revoke all device tokens of the user; returns a new one for the client, "" if its device is
    not known."""
    valid = _read(client.device_token, person)
    _renew(person, [valid.device.hex] if valid else [])
    return replace(valid, version=person.device_version).signed() if valid else Secret("")


def replace_all(person: Person, client: Client) -> Secret:
    """Revoke all device tokens of the user; returns a new one for the client, which has proven to
    be the user, also if its device is not known."""
    valid = _read(client.device_token, person)
    if valid is not None:
        return revoke_others(person, client)
    device = uuid.uuid4()
    _renew(person, [device.hex])
    return token(person, device)


def _renew(person: Person, device_ids: list[str]) -> None:
    """Revoke all device tokens by a new version, and forget all devices but `device_ids`."""
    person.account.device_ids = "".join(device_ids)
    rows = Account.objects.filter(pk=person.user.pk)
    rows.update(device_version=F("device_version") + 1, device_ids=person.account.device_ids)
    person.account.device_version += 1


def _read(text: Secret, person: Person | None) -> DeviceToken | None:
    """The device token, if it belongs to this user and was not revoked."""
    signed = DeviceToken.read(text) if person else None
    if signed is None or person is None or signed.user != person.id:
        return None
    # The version and not the hash: a better hash of the same password must not revoke the token.
    current = signed.version == person.device_version and signed.device.hex in ids(person)
    return signed if current else None
