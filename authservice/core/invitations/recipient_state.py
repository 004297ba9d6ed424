"""An invitation link signs in to the account of its address only as long as the account stays as it
was when the link was mailed.

Somebody who could read the mailbox once may keep a link. Like a link to reset the password, it must
not work after the owner has changed the password or ended all sessions. A client that is signed in
to the account can still accept.

Until an address of the account is proven, none of its changes counts: another person may have made
them, to lock the recipient out. The link is then the first proof, which revokes their access. An
address that staff have marked as unverified was proven once.
"""

from __future__ import annotations

from typing import Any

from authservice.core.credentials import passwords
from authservice.core.invitations import closing
from authservice.core.invitations.models import Invitation
from authservice.core.users.person import Person
from authservice.kernel import errors


def of(recipient: Person | None) -> dict[str, Any]:
    """The columns to store with the token of a link; `recipient` is the account of the address."""
    if recipient is None:
        return {"recipient_version": 0, "recipient_fingerprint": None}
    fingerprint = passwords.fingerprint(recipient.user.password)
    return {"recipient_version": recipient.token_version, "recipient_fingerprint": fingerprint}


def require_unchanged(invitation: Invitation, recipient: Person) -> None:
    """Raises `InvitationNotFound` if the link was mailed before the last change of the password or
    the last end of all sessions, `InvitationNotPending` if it was answered."""
    if invitation.recipient_version is None:
        return  # mailed before the upgrade that added the column
    proven = recipient.email_proven or recipient.account.email_proven_at is not None
    if proven and _has_changed(invitation, recipient):
        closing.require_still_pending(invitation)  # a concurrent answer may have changed both
        raise errors.InvitationNotFound


def _has_changed(invitation: Invitation, recipient: Person) -> bool:
    """Whether the password was changed or all sessions ended since the mail. If the address had no
    account then, whether this ever happened: a new account has the version 0, and its first
    password is that of the sign-up."""
    if invitation.recipient_version != recipient.token_version:
        return True
    fingerprint = invitation.recipient_fingerprint
    if fingerprint is None:
        return recipient.device_version > 0
    return not passwords.matches_fingerprint(fingerprint, recipient.user.password)
