"""When a user is deleted, in whatever way, other members become owners of their organizations.

Staff delete users over the API and in Django admin, the cleanup deletes unused accounts, and a host
project deletes users in its own code. All of them send `pre_delete`, in the transaction of the
deletion, so no organization is left without an owner.
"""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.db.models import Case, IntegerField, Value, When
from django.db.models.signals import pre_delete

from authservice.core.credentials import passwords
from authservice.core.users.user_model import host
from authservice.kernel import databases, events
from authservice.kernel.client import Client
from authservice.organization import members, organizations, roles
from authservice.organization.models import Membership, Organization


def connect() -> None:
    users = host().model._meta.concrete_model
    for model in apps.get_models():
        if model._meta.concrete_model is users:
            uid = f"authservice.organization.deletion.{model._meta.label}"
            pre_delete.connect(_before, sender=model, dispatch_uid=uid)


def _before(instance: Any, using: str, **_: Any) -> None:
    if using != databases.primary():
        return
    # The user first, as everywhere: then no organization that the user joins now is missed.
    passwords.lock_users([instance.pk])
    own = Membership.objects.filter(user=instance.pk)
    keys = list(own.values_list("organization_id", flat=True))
    locked = Organization.objects.select_for_update().filter(pk__in=keys).order_by("pk")
    for organization in list(locked):
        _leave(organization, instance)


def _leave(organization: Organization, user: Any) -> None:
    """Remove the member at once: of several users who are deleted together, each sees the rows that
    the ones before left."""
    rows = Membership.objects.filter(organization=organization)
    member = rows.filter(user=user.pk).first()
    if member is None:
        return
    others = rows.exclude(pk=member.pk)
    if not others.exists():
        _record("org.deleted", organization, slug=organization.slug)
        organizations.remove(organization)
        return
    if member.role == roles.OWNER and not members.other_owners(member).exists():
        _promote(_successor(others), organization)
    members.discard(member)


def _successor(others: Any) -> Membership:
    """The admin who joined first, else the member who joined first."""
    ranks = [When(role=name, then=Value(rank)) for rank, name in enumerate(roles.ROLES)]
    rank = Case(*ranks, default=Value(len(ranks)), output_field=IntegerField())
    found: Membership = others.select_related("user").order_by(rank, "joined_at", "pk")[0]
    return found


def _promote(member: Membership, organization: Organization) -> None:
    before = {"role": {"before": member.role, "after": roles.OWNER}}
    Membership.objects.filter(pk=member.pk).update(role=roles.OWNER)
    known = {"organization": str(organization.pk)}
    _record("org.member.role_changed", member.user, **known, **before)


def _record(action: str, target: Any, **metadata: Any) -> None:
    # By the system: who deleted the user is recorded with that deletion.
    events.record_by_staff(action, None, target, Client(), **metadata)
