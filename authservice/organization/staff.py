"""What staff do with organizations in Django admin, and operators with `authservice_organizations`.

`by` is the member of staff, or None for an operator in a shell.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from authservice.core import errors
from authservice.core.credentials import passwords
from authservice.core.invitations import closing, mailing
from authservice.core.invitations.models import Status
from authservice.core.users import lookup
from authservice.core.users.person import Person
from authservice.kernel import clock, databases, events
from authservice.kernel.client import Client
from authservice.kernel.errors import TooManyRequests
from authservice.organization import errors as faults
from authservice.organization import invitations, members, organizations, roles
from authservice.organization.conf import conf
from authservice.organization.invitations import KIND
from authservice.organization.models import Membership, Organization, OrganizationInvitation


@clock.once
def create(owner: Person, *, name: str, slug: str = "", by: Any = None) -> Organization:
    """Create an organization with an owner. Raises `SlugTaken`."""
    with transaction.atomic(using=databases.primary()):
        passwords.lock_users([owner.user.pk])
        created = organizations.found_by(owner.user, name=name, slug=slug)
        _record("org.created", by, created, Client(), slug=created.slug)
    return created


@clock.once
def transfer(organization: Organization, to: Any, *, by: Any = None, client: Client) -> None:
    """Make the user `to` the only owner: the other owners become admins. A user who is not a member
    becomes one."""
    with transaction.atomic(using=databases.primary()):
        passwords.lock_users([to.pk])
        _lock(organization)
        rows = Membership.objects.filter(organization=organization).select_related("user")
        member = rows.filter(user=to.pk).first()
        if member is None:
            Membership.objects.create(organization=organization, user_id=to.pk, role=roles.OWNER)
            metadata = {"organization": str(organization.pk), "role": roles.OWNER}
            _record("org.member.added", by, to, client, **metadata)
        elif member.role != roles.OWNER:
            _give(member, roles.OWNER, by, client)
        for other in rows.filter(role=roles.OWNER).exclude(user=to.pk):
            _give(other, roles.ADMIN, by, client)


def remove(member: Membership, *, by: Any, client: Client) -> None:
    """Remove a member. Raises `LastOwner`, and `MemberNotFound` if they have left."""
    with transaction.atomic(using=databases.primary()):
        _lock(member.organization)
        # Staff selected the member before the lock: since then, the role may have changed.
        current = Membership.objects.select_related("user").filter(pk=member.pk).first()
        if current is None:
            raise faults.MemberNotFound
        members.require_other_owner(current)
        metadata = {"organization": str(current.organization_id), "role": current.role}
        _record("org.member.removed", by, current.user, client, **metadata)
        members.discard(current)


def record_update(
    organization: Organization, *, by: Any, client: Client, changes: Mapping[str, Any]
) -> None:
    """Record a change that Django admin saves in the same transaction: for each field its values
    `before` and `after`."""
    if "slug" in changes:
        organizations.retire_slug(changes["slug"]["before"])
    _record("org.updated", by, organization, client, **changes)


def delete(organization: Organization, *, by: Any, client: Client) -> None:
    with transaction.atomic(using=databases.primary()):
        _lock(organization)
        _record("org.deleted", by, organization, client, slug=organization.slug)
        organizations.remove(organization)


@clock.once
def resend(invitation: OrganizationInvitation, *, by: Any, client: Client) -> None:
    """Mail a new link in the name of the inviter.

    Raises as `invitations.require_free` does, `InvitationNotFound` if it was deleted meanwhile,
    `InvitationNotPending` even for a pending one if the inviter may not invite any more or the
    organization is inactive, `EmailNotConfigured`, and `TooManyRequests` beyond a limit on mails.
    """
    with transaction.atomic(using=databases.primary()):
        passwords.lock_users([invitation.inviter_id])
        _lock(invitation.organization)
        rows = OrganizationInvitation.objects.select_related("organization")
        current: OrganizationInvitation | None = rows.filter(pk=invitation.pk).first()
        if current is None:
            raise errors.InvitationNotFound
        usable = current.organization.active and invitations.may_still_invite(current)
        if current.status != Status.PENDING or not usable:
            raise errors.InvitationNotPending  # nobody could accept it
        invitations.require_free(current.organization, current.email_key, besides=current)
        sender = lookup.get_person(by)  # whose limit on mails counts, instead of the inviter's
        if not mailing.send(current, KIND, client, sender=sender, ttl=conf.invitation_ttl):
            raise TooManyRequests
        metadata = {**invitations.described(current), "again": True}
        _record(invitations.SENT, by, current.organization, client, **metadata)


def cancel(invitation: OrganizationInvitation, *, by: Any, client: Client) -> None:
    """Cancel a pending invitation. Raises `InvitationNotPending`."""
    with transaction.atomic(using=databases.primary()):
        closing.cancel(invitation)
        metadata = invitations.described(invitation)
        _record(invitations.CANCELLED, by, invitation.organization, client, **metadata)


def without_owner() -> QuerySet[Organization]:
    """Organizations without an owner: their owners were deleted by SQL, without Django."""
    owners = Membership.objects.filter(organization=OuterRef("pk"), role=roles.OWNER)
    return Organization.objects.filter(~Exists(owners)).order_by("pk")


def _lock(organization: Organization) -> None:
    """As `access.lock`, for inactive organizations too."""
    list(Organization.objects.select_for_update().filter(pk=organization.pk).values_list("pk"))


def _give(member: Membership, role: str, by: Any, client: Client) -> None:
    change = {"role": {"before": member.role, "after": role}}
    Membership.objects.filter(pk=member.pk).update(role=role)
    metadata = {"organization": str(member.organization_id)}
    _record("org.member.role_changed", by, member.user, client, **metadata, **change)


def _record(action: str, by: Any, target: Any, client: Client, **metadata: Any) -> None:
    events.record_by_staff(action, by, target, client, **metadata)
