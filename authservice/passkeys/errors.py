"""The errors of this module.

The response is the same for all reasons why a passkey is refused, so that an attacker learns
nothing from it. The only exception is an id that no account has: the page passes it on to the
browser, which then no longer offers that passkey.
"""

from __future__ import annotations

from authservice.kernel.errors import Fault


class PasskeyInvalid(Fault):
    code = "PASSKEY_INVALID"
    message = "The passkey was not accepted."
    cause = (
        "A passkey that is added does not verify: its request has expired, was used or belongs to"
        " another session, the page has another origin or domain, or the key is of a kind that the"
        " service does not accept (`PASSKEYS.ATTESTATION`)."
    )
    remedy = "Request new options, and create the passkey again."


class PasskeyRefused(Fault):
    """As `PasskeyInvalid`, but 401: nobody is signed in yet."""

    status = 401
    code = "PASSKEY_INVALID"
    message = "The passkey was not accepted."
    cause = (
        "A login or a challenge was answered with a passkey that does not verify: its request has"
        " expired or was used, the signature, the domain or the origin is wrong, the device did not"
        " verify its user, or its counter fell back. Also for a security key that is only a second"
        " factor, where it would have to be enough alone."
    )
    remedy = "Request new options, and try again or with another passkey."


class PasskeyUnknown(Fault):
    status = 401
    code = "PASSKEY_UNKNOWN"
    message = "No account has this passkey."
    cause = "The passkey was removed from its account, or the account was deleted."
    remedy = (
        "Tell the browser with `PublicKeyCredential.signalUnknownCredential`, so that it no longer"
        " offers the passkey, and let the user log in in another way."
    )


class PasskeyExists(Fault):
    status = 409
    code = "PASSKEY_EXISTS"
    message = "This passkey is already in use."
    cause = "The account, or another one, has a passkey with this id."
    remedy = "Use the existing passkey, or create another one."


class PasskeyLimit(Fault):
    status = 403
    code = "PASSKEY_LIMIT"
    message = "This account has the largest number of passkeys."
    cause = "The account has 20 passkeys."
    remedy = "Remove one that is no longer used."


class PasskeyNotFound(Fault):
    status = 404
    code = "PASSKEY_NOT_FOUND"
    message = "The passkey does not exist."
    cause = "The user has no passkey with this id."
    remedy = "List the passkeys again: it may have been removed."


class LastLoginMethod(Fault):
    code = "LAST_LOGIN_METHOD"
    message = "The last way to log in cannot be removed."
    cause = "The account has no password, no other passkey and no other way to log in."
    remedy = "Set a password or add another passkey first."
