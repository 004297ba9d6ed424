"""Reads the secrets of authenticator apps as other packages store them."""

from __future__ import annotations

import base64
import binascii
from datetime import datetime
from typing import Any

from django.utils import timezone

from authservice.kernel import clock
from authservice.kernel.secret import Secret

PERIOD, DIGITS = 30, 6
PARAMETERS = (
    "its codes are not those of every app (6 digits, 30 seconds): the user has to set it up again"
)
UNREADABLE = "its secret cannot be read"
SHORT = "its secret has less than 80 bits"
LONG = "its secret has more than 512 bits"
FUTURE = "its last code is one of the future"

# Google Authenticator's own secrets had 80 bits; RFC 4226 section 4 requires 128. A shorter one
# can be found by trying all secrets against a few codes.
_SHORTEST, _LONGEST = 10, 64
# A package may accept codes of later steps, but not of steps so late.
_AHEAD = 100


class NotImportable(Exception):
    """The factor cannot be imported; the text is the reason."""


def from_base32(text: Secret) -> Secret:
    """The secret in the form that this module stores. Raises `NotImportable`."""
    typed = Secret("".join(text.reveal().split()).upper().rstrip("="))
    padding = "=" * (-len(typed.reveal()) % 8)
    try:
        return _checked(Secret(base64.b32decode(typed.reveal() + padding).hex()))
    except (binascii.Error, ValueError):
        raise NotImportable(UNREADABLE) from None


def from_hex(text: Secret) -> Secret:
    """The same for a secret in hexadecimal form."""
    return _checked(text)


def check_parameters(*, digits: Any, period: Any) -> None:
    """Raises `NotImportable` unless the codes are those of this module."""
    if (digits, period) != (DIGITS, PERIOD):
        raise NotImportable(PARAMETERS)


def last_step(step: int) -> int:
    """The step of the last used code, so that it is not accepted again. Raises `NotImportable` if
    it would refuse every code for a long time."""
    if step > clock.timestamp() // PERIOD + _AHEAD:
        raise NotImportable(FUTURE)
    return max(step, 0)


def step_used_at(moment: datetime | None, *, tolerance: int) -> int:
    """The latest step whose code can have been used at a moment, by a package that accepts the
    codes of `tolerance` steps more."""
    if moment is None:
        return 0
    aware = timezone.make_aware(moment) if timezone.is_naive(moment) else moment
    return int(aware.timestamp()) // PERIOD + tolerance


def _checked(octets: Secret) -> Secret:
    try:
        length = len(bytes.fromhex(octets.reveal()))
    except ValueError:
        raise NotImportable(UNREADABLE) from None
    if not _SHORTEST <= length <= _LONGEST:
        raise NotImportable(SHORT if length < _SHORTEST else LONG)
    return Secret(base64.b32encode(bytes.fromhex(octets.reveal())).decode())
