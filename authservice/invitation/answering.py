"""Accept and decline an invitation: what the owner of the mailbox does with the link."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.db import transaction

from authservice.core.invitations import acceptance, closing
from authservice.core.invitations.acceptance import Accepted, Profile
from authservice.core.invitations.models import Status
from authservice.core.sessions.authentication import Caller
from authservice.core.users import lookup
from authservice.core.users.person import Person
from authservice.invitation.invitations import described, may_invite
from authservice.invitation.models import PlatformInvitation
from authservice.kernel import databases, errors, events
from authservice.kernel.client import Client
from authservice.kernel.secret import Secret

ACCEPTED, DECLINED = "invitation.accepted", "invitation.declined"


def accept(
    token: Secret, profile: Profile, client: Client, *, caller: Caller | None
) -> Accepted[None]:
    """Accept and sign in; see `acceptance.accept`. Raises as `closing.find` does too."""
    invitation = closing.find(PlatformInvitation, token, client)
    joined = partial(_joined, invitation, client)
    return acceptance.accept(invitation, profile, client, caller=caller, join=joined)


def describe(token: Secret, client: Client) -> dict[str, Any]:
    """What the page of the link shows: the address, whether it has an account.
    Raises as `closing.find` does."""
    return acceptance.describe(closing.find(PlatformInvitation, token, client))


def decline(token: Secret, client: Client) -> None:
    """Decline. The recorded actor is the account of the address, if there is one. Raises as
    `closing.find` does."""
    invitation = closing.find(PlatformInvitation, token, client)
    with transaction.atomic(using=databases.primary()):
        closing.close(invitation, Status.DECLINED)
        recipient, inviter = lookup.find_by_email(invitation.email), _inviter(invitation)
        _record(DECLINED, recipient, inviter, invitation, client)


def _joined(invitation: PlatformInvitation, client: Client, person: Person) -> None:
    inviter = _inviter(invitation)
    # The invitation is void while its sender is suspended or may not invite.
    if inviter is None or not inviter.active or not may_invite(inviter):
        raise errors.InvitationNotPending
    _record(ACCEPTED, person, inviter, invitation, client)


def _inviter(invitation: PlatformInvitation) -> Person | None:
    return lookup.find_by_pk(invitation.inviter_id)


def _record(
    action: str,
    recipient: Person | None,
    inviter: Person | None,
    invitation: PlatformInvitation,
    client: Client,
) -> None:
    target = inviter.user if inviter else None
    events.record(action, recipient, client, target=target, **described(invitation))
