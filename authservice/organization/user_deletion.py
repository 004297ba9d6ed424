"""When a user is deleted, in whatever way, other members become owners of their organizations.

Staff delete users over the API and in Django admin, the cleanup deletes unused accounts, and a host
project deletes users in its own code. All of them send `pre_delete`, in the transaction of the
deletion, so no organization is left without an owner.
"""

from __future__ import annotations

from typing import Any

from django.db.models import Case, IntegerField, QuerySet, Value, When
from django.db.models.signals import post_delete

from authservice.core.credentials import passwords
from authservice.core.users.user_model import before_deletion
from authservice.kernel import databases, events
from authservice.kernel.client import Client
from authservice.organization import members, organizations, roles
from authservice.organization.models import Membership, Organization


def connect() -> None:
    post_delete.connect(
        _retire_slug, sender=Organization, dispatch_uid="authservice.organization.slug"
    )
    before_deletion(_before, "authservice.organization.user_deletion")


def _retire_slug(instance: Organization, using: str, **_: Any) -> None:
    """However an organization is deleted, its slug stays reserved for a while."""
    if using == databases.primary():
        organizations.retire_slug(instance.slug)


def _before(instance: Any, using: str, **_: Any) -> None:
    """Remove a user who is about to be deleted from all organizations."""
    if using != databases.primary():
        return
    # Lock the user first, as everywhere: then the user cannot join an organization after this
    # function has read the memberships.
    passwords.lock_users([instance.pk])
    memberships = Membership.objects.filter(user=instance.pk)
    organization_ids = list(memberships.values_list("organization_id", flat=True))
    locked = Organization.objects.select_for_update().filter(pk__in=organization_ids).order_by("pk")
    for organization in list(locked):
        rows = Membership.objects.filter(organization=organization)
        member = rows.filter(user=instance.pk).first()
        if member is None:
            continue
        other_members = rows.exclude(pk=member.pk)
        if not other_members.exists():
            _record("org.deleted", organization, slug=organization.slug)
            organizations.remove(organization)
            continue
        if member.role == roles.OWNER and not members.other_owners(member).exists():
            promoted, person = _successor(other_members)
            change = {"role": {"before": promoted.role, "after": roles.OWNER}}
            Membership.objects.filter(pk=promoted.pk).update(role=roles.OWNER)
            organization_id = str(organization.pk)
            _record("org.member.role_changed", person.user, organization=organization_id, **change)
        # Not left to the cascade: if several users are deleted together, the next one must not
        # count this one among the members who stay.
        members.discard(member)


def _successor(other_members: QuerySet[Membership]) -> members.Member:
    """The admin who joined first, else the member of the highest rank who joined first. Suspended
    members are skipped, since they cannot manage the organization, unless all are suspended."""
    ranks = [When(role=role.name, then=Value(role.rank)) for role in roles.table().values()]
    rank = Case(*ranks, default=Value(0), output_field=IntegerField())
    ranked = other_members.order_by(-rank, "joined_at", "pk")
    in_order = members.in_batches(ranked)
    active = (candidate for candidate in in_order if candidate[1].active)
    return next(active, None) or next(members.in_batches(ranked[:1]))


def _record(action: str, target: Any, **metadata: Any) -> None:
    # By the system: who deleted the user is recorded with that deletion.
    events.record_by_staff(action, None, target, Client(), **metadata)
