"""Staff send invitations again and cancel them, in Django admin. `by` is the member of staff."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from authservice.core import errors
from authservice.core.credentials import passwords
from authservice.core.invitations import closing, mailing
from authservice.core.users import lookup
from authservice.invitation.conf import conf
from authservice.invitation.models import PlatformInvitation
from authservice.invitation.platform_invitations import (
    CANCELLED,
    KIND,
    SENT,
    described,
    may_invite,
    require_resendable,
)
from authservice.kernel import clock, databases, events
from authservice.kernel.client import Client
from authservice.kernel.errors import TooManyRequests


@clock.once
def resend(invitation: PlatformInvitation, by: Any, client: Client) -> None:
    """Mail a new link in the name of the sender. Raises `InvitationNotFound`, what
    `require_resendable` raises, `InvitationNotPending` if the sender is suspended or may not
    invite, and `TooManyRequests` beyond a limit on mails."""
    with transaction.atomic(using=databases.primary()):
        current = _locked(invitation)
        require_resendable(current)
        inviter = lookup.get_person(current.inviter)
        if not inviter.active or not may_invite(inviter):
            raise errors.InvitationNotPending  # nobody could accept it
        # The mail counts towards the limit of the member of staff, not of the inviter.
        staff = lookup.get_person(by)
        if not mailing.send(current, KIND, client, sender=staff, ttl=conf.ttl):
            raise TooManyRequests
        metadata = {**described(current), "again": True}
        events.record_by_staff(SENT, by, current.inviter, client, **metadata)


def cancel(invitation: PlatformInvitation, by: Any, client: Client) -> None:
    """Raises `InvitationNotFound` or `InvitationNotPending`."""
    with transaction.atomic(using=databases.primary()):
        current = _locked(invitation)
        closing.cancel(current)
        events.record_by_staff(CANCELLED, by, current.inviter, client, **described(current))


def _locked(invitation: PlatformInvitation) -> PlatformInvitation:
    """The current row, with the user who sent it locked as in a request of that user."""
    passwords.lock_users([invitation.inviter_id])
    rows = PlatformInvitation.objects.select_related("inviter")
    current: PlatformInvitation | None = rows.filter(pk=invitation.pk).first()
    if current is None:
        raise errors.InvitationNotFound
    return current
