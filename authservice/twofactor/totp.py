"""Time-based one-time passwords (RFC 6238): six digits, steps of 30 seconds, HMAC-SHA-1.

Every authenticator app supports these parameters, and several ignore any others. The window is
fixed at one step to either side: a window that followed the drift of a clock would also accept
later codes.
"""

from __future__ import annotations

import base64
import re
import secrets
from urllib.parse import quote, urlencode

from django.utils.crypto import constant_time_compare
from django_otp.oath import TOTP

from authservice.kernel import clock
from authservice.kernel.secret import Secret

_WINDOW = (-1, 0, 1)
_OCTETS = 20  # the length that RFC 4226 section 4 recommends
_SIX_DIGITS = re.compile(r"[0-9]{6}")


def new_secret() -> Secret:
    """160 random bits in base32, the form that users type into apps."""
    return Secret(base64.b32encode(secrets.token_bytes(_OCTETS)).decode())


def is_code(text: str) -> bool:
    """Whether a text has the form of a code: ASCII digits only, since `int` accepts others."""
    return _SIX_DIGITS.fullmatch(text) is not None


def step_of(code: Secret, secret: Secret, *, after: int) -> int | None:
    """The time step of a code, if it is within the window and later than `after`."""
    key, now = base64.b32decode(secret.reveal()), clock.timestamp()
    typed = code.reveal()
    right = [oath.t() for oath in _nearby(key, now) if constant_time_compare(_code(oath), typed)]
    return next((step for step in right if step > after), None)


def uri(secret: Secret, *, issuer: str, account: str) -> Secret:
    """The content of the QR code, in the Key URI Format of authenticator apps."""
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
    """The steps of the window, the earliest first."""
    steps = [TOTP(key, drift=drift) for drift in _WINDOW]
    for step in steps:
        step.time = now  # the same time for all steps
    return steps


def _code(oath: TOTP) -> str:
    return f"{oath.token():06d}"
