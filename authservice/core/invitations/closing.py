"""Find an invitation by its token, and close it: accepted, declined or cancelled, exactly once.

An invitation link signs in to the account of its address only as long as the account stays as it
was when the link was mailed. Somebody who could read the mailbox once may keep a link. Like a link
to reset the password, it must not work after the owner has changed the password or ended all
sessions. A client that is signed in to the account can still accept.

Until an address of the account is proven, none of its changes counts: another person may have made
them, to lock the recipient out. The link is then the first proof, which revokes their access. An
address that staff have marked as unverified was proven once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db.models import Q

from authservice.core import errors
from authservice.core.credentials import lockout, one_time, passwords
from authservice.core.invitations.models import Invitation, Status
from authservice.core.users.person import Person
from authservice.kernel import clock
from authservice.kernel.client import Client
from authservice.kernel.interfaces import AccountAccess
from authservice.kernel.secret import Secret

Row = TypeVar("Row", bound=Invitation)


def find(model: type[Row], token: Secret, client: Client) -> Row:
    """The pending invitation with this token; attempts are counted for the network of the client.

    Raises `InvitationNotFound`, `InvitationNotPending`, `InvitationExpired`, `TooManyRequests`.
    """
    digests = one_time.name_digests(model.TOKEN_PURPOSE, token)
    invitation: Row | None = model.objects.filter(token_digest__in=digests).first()
    if invitation is None:
        lockout.count_network(None, client)
        raise errors.InvitationNotFound
    _require_pending(invitation)
    return invitation


def close(invitation: Invitation, status: Status) -> None:
    """Give a pending invitation its final status; of several concurrent calls, one succeeds.

    The row must still have the token that was read: a mail that was sent since has replaced it.
    Raises as `find` does.
    """
    now = clock.now()
    pending = _row(invitation).filter(status=Status.PENDING, expires_at__gt=clock.by_now())
    unchanged = pending.filter(token_digest=invitation.token_digest)
    if not unchanged.update(status=status, closed_at=now):
        _require_pending(_row(invitation).first())
        raise errors.InvitationNotFound  # the token was replaced
    invitation.status, invitation.closed_at = status.value, now


def cancel(invitation: Invitation, **columns: Any) -> None:
    """Cancel a pending invitation, whatever its token. Raises `InvitationNotPending`, also if a
    column of the row has another value than the one in `columns`."""
    now = clock.now()
    rows = _row(invitation).filter(status=Status.PENDING, expires_at__gt=now, **columns)
    if not rows.update(status=Status.CANCELLED, closed_at=now):
        raise errors.InvitationNotPending
    invitation.status, invitation.closed_at = Status.CANCELLED.value, now


def require_still_pending(invitation: Invitation) -> None:
    """Read the row again. Raises `InvitationNotFound`, `InvitationNotPending` or
    `InvitationExpired`."""
    _require_pending(_row(invitation).first())


def _row(invitation: Invitation) -> Any:
    return type(invitation).objects.filter(pk=invitation.pk)


def _require_pending(invitation: Invitation | None) -> None:
    if invitation is None:
        raise errors.InvitationNotFound
    if invitation.status != Status.PENDING:
        raise errors.InvitationNotPending
    if invitation.expires_at <= clock.by_now():
        raise errors.InvitationExpired


class InvitationAccess(AccountAccess):
    """Fills the slot `account_access` for one kind of invitation.

    `record` gets the user and each cancelled invitation. `ttl` returns how long one is valid. An
    invitation is no way to sign in to the account of its sender, so the mail about removed access
    does not mention it.
    """

    def __init__(
        self, model: Any, *, record: Callable[[Person, Any], None], ttl: Callable[[], timedelta]
    ) -> None:
        self._model, self._record, self._ttl = model, record, ttl

    def first_proof(self, person: Person) -> bool:
        self._cancel(person, Q())
        return False

    def recover(self, person: Person, since: datetime) -> bool:
        """Cancels invitations that the user sent, or sent again, since then."""
        # Each mail sets `expires_at` to its own time plus `ttl`.
        sent_again = Q(expires_at__gte=since + self._ttl())
        self._cancel(person, Q(created_at__gte=since) | sent_again)
        return False

    def rebind(self, email_key: str, stale: Collection[str], fresh: str) -> None:
        """Keeps links valid when a login stores a better hash of the same password."""
        rows = self._model.objects.filter(email_key=email_key, recipient_fingerprint__in=stale)
        rows.update(recipient_fingerprint=fresh)

    def before_deletion(self, email_key: str) -> None:
        """Forget the fingerprint of the recipient's password."""
        rows = self._model.objects.filter(email_key=email_key)
        rows.exclude(recipient_fingerprint=None).update(**state_of_recipient(None))

    @clock.once
    def _cancel(self, person: Person, condition: Q) -> None:
        inviter = person.user.pk
        rows = self._model.objects.pending().filter(condition, inviter=inviter)
        for invitation in rows.order_by("pk"):
            # It may have been answered, or sent again by another user, at the same moment.
            with suppress(errors.InvitationNotPending):
                cancel(invitation, inviter=inviter)
                self._record(person, invitation)


def state_of_recipient(recipient: Person | None) -> dict[str, Any]:
    """The columns to store with the token of a link; `recipient` is the account of the address."""
    if recipient is None:
        return {"recipient_version": 0, "recipient_fingerprint": None}
    fingerprint = passwords.fingerprint(recipient.user.password)
    return {"recipient_version": recipient.token_version, "recipient_fingerprint": fingerprint}


def require_unchanged_recipient(invitation: Invitation, recipient: Person) -> None:
    """Raises `InvitationNotFound` if the link was mailed before the last change of the password or
    the last end of all sessions, `InvitationNotPending` if it was answered."""
    if invitation.recipient_version is None:
        return  # mailed before the upgrade that added the column
    proven = recipient.email_proven or recipient.account.email_proven_at is not None
    if not proven:
        return
    fingerprint = invitation.recipient_fingerprint
    if fingerprint is None:
        # The address had no account when the link was mailed, so any change of the password since
        # the sign-up counts: a new account has the version 0.
        changed = recipient.device_version > 0
    else:
        changed = not passwords.matches_fingerprint(fingerprint, recipient.user.password)
    if changed or invitation.recipient_version != recipient.token_version:
        require_still_pending(invitation)  # a concurrent answer may be the cause of the change
        raise errors.InvitationNotFound
