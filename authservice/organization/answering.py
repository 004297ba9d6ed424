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
from authservice.kernel import databases, errors, events
from authservice.kernel.client import Client
from authservice.kernel.secret import Secret
from authservice.organization import access, members, roles
from authservice.organization.auto_create import INVITATION as METHOD
from authservice.organization.errors import OrganizationNotFound
from authservice.organization.invitations import described
from authservice.organization.models import Membership, OrganizationInvitation
from authservice.organization.roles import Permission

ACCEPTED, DECLINED = "org.invitation.accepted", "org.invitation.declined"


def accept(
    token: Secret, profile: Profile, client: Client, *, caller: Caller | None
) -> Accepted[Membership]:
    """Accept, join and sign in.

    Raises as `closing.find` and `acceptance.accept` do, `AlreadyAMember`, `TooManyMembers`, and
    `InvitationNotPending` if the inviter may not invite with this role any more.
    """
    invitation = closing.find(OrganizationInvitation, token, client)
    return acceptance.accept(
        invitation,
        profile,
        client,
        caller=caller,
        join=partial(_join, invitation, client),
        lock=partial(_lock, invitation),
        method=METHOD,
    )


def describe(token: Secret, client: Client) -> dict[str, Any]:
    """What the page of the link shows: the address, whether it has an account, the organization
    and the role.
    Raises as `closing.find` does, and `InvitationNotFound` if the organization is gone."""
    invitation = closing.find(OrganizationInvitation, token, client)
    if not invitation.organization.active:
        raise errors.InvitationNotFound
    shown = {"organization": invitation.organization.name, "role": invitation.role}
    return {**acceptance.describe(invitation), **shown}


def decline(token: Secret, client: Client) -> None:
    """Decline. The recorded actor is the account of the address, if there is one. Raises as
    `closing.find` does, and `InvitationNotFound` if the organization is gone."""
    invitation = closing.find(OrganizationInvitation, token, client)
    with transaction.atomic(using=databases.primary()):
        _lock(invitation)
        closing.close(invitation, Status.DECLINED)
        recipient = lookup.find_by_email(invitation.email)
        target = invitation.organization
        events.record(DECLINED, recipient, client, target=target, **described(invitation))


def may_still_invite(invitation: OrganizationInvitation) -> bool:
    """Whether the inviter is active, and a member whose role manages the role to give. The row may
    have got another inviter since it was read."""
    rows = OrganizationInvitation.objects.filter(pk=invitation.pk)
    inviter = lookup.find_by_pk(rows.values_list("inviter_id", flat=True).first())
    if inviter is None or not inviter.active:
        return False
    own = Membership.objects.filter(organization=invitation.organization_id, user=inviter.user.pk)
    role = own.values_list("role", flat=True).first() or ""
    return roles.permits(role, Permission.INVITE) and roles.manages(role, invitation.role)


def _lock(invitation: OrganizationInvitation) -> None:
    try:
        access.lock(invitation.organization_id)
    except OrganizationNotFound as wrong:  # deleted or inactive
        raise errors.InvitationNotFound from wrong


def _join(invitation: OrganizationInvitation, client: Client, person: Person) -> Membership:
    organization = invitation.organization
    if not may_still_invite(invitation):
        raise errors.InvitationNotPending
    joined = members.add(organization, person.user, invitation.role)
    known = described(invitation)
    events.record(ACCEPTED, person, client, target=organization, **known)
    events.record("org.member.added", person, client, target=person.user, **known)
    return joined
