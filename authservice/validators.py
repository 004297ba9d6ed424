"""Password validators for `AUTH_PASSWORD_VALIDATORS`: what NIST SP 800-63B-4 asks of passwords.

They are Django validators, so Django admin and forms of the project use them too.
"""

from __future__ import annotations

from authservice.core.credentials.password_rules import (
    MinimumLengthWithoutFactor,
    NotBreached,
    NotCommon,
)

__all__ = ["MinimumLengthWithoutFactor", "NotBreached", "NotCommon"]
