"""Setting up, using and disabling the second factor of a signed-in user."""

from __future__ import annotations

from authservice.openapi.texts.text import Text

TEXTS = {
    "twoFactorStatus": Text(
        """
        Whether the signed-in user has a second factor, and how many backup codes are left. Call it
        for the page of security settings. Suggest `POST /2fa/backup-codes` when few are left.
        """
    ),
    "setUpTwoFactor": Text(
        """
        The first step to a second factor. Show `qr_code` as an image (it is a `data:` URI), or
        `secret` as text for users who cannot scan, and have the user store the backup codes. Then
        ask for the first code of the app and send it to `POST /2fa/verify`. Logins need no code
        until then.

        Secret and backup codes are shown only here; calling it again replaces them. 400
        `TWO_FACTOR_ALREADY_ENABLED`: disable the factor first. 403 `REAUTHENTICATION_REQUIRED`:
        send `password` too, because the session began more than 10 minutes ago.
        """
    ),
    "enableTwoFactor": Text(
        """
        The second step: the first `code` of the app enables the factor. From now on every login
        answers with a challenge. This session stays valid; every other session of the user ends.
        The owner gets a mail.

        400 `TWO_FACTOR_INVALID`: the code is wrong; the user is still signed in, so ask again. 400
        `TWO_FACTOR_NOT_ENABLED`: `POST /2fa/setup` was not called. 429 `TOO_MANY_ATTEMPTS`: wait
        for `Retry-After`.
        """,
        "The second factor is enabled, and all other sessions have ended.",
    ),
    "renewBackupCodes": Text(
        """
        Replaces all backup codes with ten new ones. Send a `code` of the authenticator app, not a
        backup code. Show the codes once and have the user store them; the old ones are refused from
        now on. The owner gets a mail.

        400 `TWO_FACTOR_INVALID`: the code is wrong or was used; wait for the next one. 429
        `TOO_MANY_ATTEMPTS`: wait for `Retry-After`.
        """
    ),
    "disableTwoFactor": Text(
        """
        Removes the second factor and its backup codes. Send a `code` of the authenticator app, not
        a backup code. Sessions stay valid, later logins need no code, and the owner gets a mail.

        If the service requires a second factor, the next login asks the user to set up another one,
        which is the way to move to another phone. 400 `TWO_FACTOR_INVALID`: the code is wrong or
        was used. A user who lost the app asks the support.
        """,
        "The second factor and its backup codes were removed.",
    ),
}
