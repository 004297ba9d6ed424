"""The kinds of messages that core sends; a module names its own where it composes them.

A kind identifies the job in the queue, the function that composes the message and the folder of the
templates.
"""

from __future__ import annotations

VERIFY_EMAIL = "verify-email"
SIGNUP = "signup"
SIGNUP_UNPROVEN = "signup-unproven"
VERIFY_PHONE = "verify-phone"
RESET_BY_LINK = "reset-link"
RESET_BY_CODE = "reset-code"
PASSWORD_CHANGED = "password-changed"  # noqa: S105 a kind of message, not a password
PASSWORD_UNSAFE = "password-unsafe"  # noqa: S105 a kind of message, not a password
EMAIL_CONFIRMED = "email-confirmed"
ACCESS_WIPED = "access-wiped"
ACCESS_REMOVED = "access-removed"
ACCOUNT_SECURED = "account-secured"
PHONE_CHANGED = "phone-changed"
PHONE_LOST = "phone-lost"
PHONE_CHANGED_TEXT = "phone-changed-text"
RESET_BY_CODE_REFUSED = "reset-code-refused"
WELCOME = "welcome"
NEW_DEVICE = "new-device"
NEW_DEVICES = "new-devices"
ACCOUNT_MADE = "account-made"
CHANGED_BY_STAFF = "changed-by-staff"
CHANGE_EMAIL = "change-email"
EMAIL_TAKEN = "email-taken"
EMAIL_CHANGE_REQUESTED = "email-change-requested"
EMAIL_CHANGED = "email-changed"
EMAIL_CHANGE_CONFIRMED = "email-change-confirmed"
DELETE_ACCOUNT = "delete-account"
ACCOUNT_DELETED = "account-deleted"

# Kinds that a user waits for although no request limit counts them, such as at signup.
AWAITED = (VERIFY_EMAIL, SIGNUP, VERIFY_PHONE, RESET_BY_LINK, RESET_BY_CODE, ACCOUNT_MADE)
