"""The errors of this module. The error of a wrong code in a login, `TwoFactorRefused`, is in
`core/errors.py`."""

from __future__ import annotations

from authservice.kernel.errors import Fault


class TwoFactorInvalid(Fault):
    code = "TWO_FACTOR_INVALID"
    message = "The code is not valid."
    cause = "A signed-in user sends a code of the second factor that is wrong or was used before."
    remedy = (
        "Send the current code of the app, or the next one if that was used already. If all are"
        " refused, correct the clock of the device."
    )


class TwoFactorNotEnabled(Fault):
    code = "TWO_FACTOR_NOT_ENABLED"
    message = "Two-factor authentication is not enabled."
    cause = "The action needs a second factor, and the user has none or has not confirmed it."
    remedy = "Set one up with `/2fa/setup` and `/2fa/verify`."


class TwoFactorAlreadyEnabled(Fault):
    code = "TWO_FACTOR_ALREADY_ENABLED"
    message = "Two-factor authentication is already enabled."
    cause = "The user sets up a second factor although one is enabled."
    remedy = "Disable the old one first."
