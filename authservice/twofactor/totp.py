"""Time-based one-time passwords (RFC 6238): six digits, half a minute, HMAC-SHA-1.

The parameters are those that every authenticator app knows; several ignore all others. The window
is fixed at one step to either side: one that followed a clock's drift would let a later code in.
"""

from __future__ import annotations

import base64
import re
import secrets
import time
from urllib.parse import quote, urlencode

from django.utils.crypto import constant_time_compare
from django_otp.oath import TOTP

from authservice.kernel.secret import Secret

_WINDOW = (-1, 0, 1)
_OCTETS = 20  # as RFC 4226 section 4 recommends
_SIX_DIGITS = re.compile(r"[0-9]{6}")


def new_secret() -> Secret:
    """160 random bits in base32, as apps take them when typed."""
    return Secret(base64.b32encode(secrets.token_bytes(_OCTETS)).decode())


def is_code(text: str) -> bool:
    """Whether a text has the form of a code: ASCII digits alone, for `int` takes many others."""
    return _SIX_DIGITS.fullmatch(text) is not None


def step_of(code: Secret, secret: Secret, *, after: int) -> int | None:
    """The time step of a code, if it is next to the present one and later than `after`."""
    key, now = base64.b32decode(secret.reveal()), time.time()
    typed = code.reveal()
    right = [oath.t() for oath in _nearby(key, now) if constant_time_compare(_code(oath), typed)]
    return next((step for step in right if step > after), None)


def uri(secret: Secret, *, issuer: str, account: str) -> Secret:
    """What a QR code holds: the Key URI Format that authenticator apps read."""
    label = f"{quote(issuer, safe='')}:{quote(account, safe='@')}"
    query = urlencode(
        {
            "secret": secret.reveal(),
            "issuer": issuer,
            "algorithm": "SHA1",
            "digits": 6,
            "period": 30,
        },
        quote_via=quote,
    )
    return Secret(f"otpauth://totp/{label}?{query}")


def _nearby(key: bytes, now: float) -> list[TOTP]:
    """The earliest first."""
    steps = [TOTP(key, drift=drift) for drift in _WINDOW]
    for step in steps:
        step.time = now  # one instant for all of them
    return steps


def _code(oath: TOTP) -> str:
    return f"{oath.token():06d}"
