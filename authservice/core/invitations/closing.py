"""Find an invitation by its token, and close it: accepted, declined or cancelled, exactly once."""

from __future__ import annotations

from typing import Any, TypeVar

from django.utils import timezone

from authservice.core.credentials import lockout, one_time
from authservice.core.invitations.models import Invitation, Status
from authservice.kernel import errors
from authservice.kernel.client import Client
from authservice.kernel.secret import Secret

Row = TypeVar("Row", bound=Invitation)


def find(model: type[Row], token: Secret, client: Client) -> Row:
    """The pending invitation with this token; attempts are counted for the network of the client.

    Raises `InvitationNotFound`, `InvitationNotPending`, `InvitationExpired`, `TooManyRequests`.
    """
    digests = one_time.name_digests(model.TOKEN_PURPOSE, token)
    found: Row | None = model.objects.filter(token_digest__in=digests).first()
    if found is None:
        lockout.count_throttle(client.network)
        raise errors.InvitationNotFound
    _require_pending(found)
    return found


def close(invitation: Invitation, status: Status) -> None:
    """Give a pending invitation its final status; of several at once, one succeeds.

    The token must be the one that was read: a mail that was sent since has ended it. Raises as
    `find` does.
    """
    now = timezone.now()
    pending = _row(invitation).filter(status=Status.PENDING, expires_at__gt=now)
    unchanged = pending.filter(token_digest=invitation.token_digest)
    if not unchanged.update(status=status, closed_at=now):
        _require_pending(_row(invitation).first())
        raise errors.InvitationNotFound  # the token was replaced
    invitation.status, invitation.closed_at = status.value, now


def cancel(invitation: Invitation, **known: Any) -> None:
    """Cancel a pending invitation, whatever its token. Raises `InvitationNotPending`, also if a
    column of the row has another value than the one in `known`."""
    now = timezone.now()
    rows = _row(invitation).filter(status=Status.PENDING, expires_at__gt=now, **known)
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
    if invitation.expires_at <= timezone.now():
        raise errors.InvitationExpired
