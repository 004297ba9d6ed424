"""Create, change, list and delete organizations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from authservice.core.models import Session
from authservice.core.sessions import sessions
from authservice.core.users import chosen
from authservice.core.users.person import Person
from authservice.kernel import databases, errors, events
from authservice.kernel.client import Client
from authservice.organization import access, active, roles, slugs
from authservice.organization import errors as org_errors
from authservice.organization.conf import conf
from authservice.organization.models import Membership, Organization
from authservice.organization.roles import Permission

_TRIES = 200  # more than concurrent requests that want the same slug


def joined_by(user: Any) -> QuerySet[Organization]:
    """The active organizations of which the user is a member, in the order of joining."""
    rows = Organization.objects.filter(active=True, memberships__user=user)
    in_order = rows.order_by("memberships__joined_at", "pk")
    return access.with_owner(in_order.annotate(own_role=F("memberships__role")))


def create(
    caller: Person, session: Session, client: Client, *, name: str, slug: str = ""
) -> Organization:
    """Create an organization whose only member is the caller, as its owner.

    Without `slug` one is made from the name. Raises `InvalidToken`, `TooManyOrganizations`,
    `SlugTaken`, and `Forbidden` if the user may not create any.
    """
    with sessions.changing(caller, session) as person:
        if not chosen.allows(conf.who_may_create, person):
            raise errors.Forbidden
        owned = Membership.objects.filter(user=person.user.pk, role=roles.OWNER).count()
        if conf.max_per_user and owned >= conf.max_per_user:
            raise org_errors.TooManyOrganizations
        created = found_by(person.user, name=name, slug=slug)
        events.record("org.created", person, client, target=created, slug=created.slug)
    return created


def found_by(user: Any, *, name: str, slug: str = "") -> Organization:
    """Insert an organization and its owner, in a transaction of the caller. Raises `SlugTaken`."""
    created = _insert(user, name, slug) if slug else _insert_numbered(user, name)
    if created is None:
        raise org_errors.SlugTaken
    Membership.objects.create(organization=created, user_id=user.pk, role=roles.OWNER)
    created.owner_pk = user.pk  # type: ignore[attr-defined]
    return created


def update(
    caller: Person, session: Session, client: Client, org_id: str, changes: Mapping[str, str]
) -> Organization:
    """Change name, logo or metadata; an equal value changes nothing. Raises as `access.acting`
    does."""
    with access.acting(caller, session, org_id, Permission.UPDATE) as actor:
        changed, metadata = actor.organization, {}
        for field, value in changes.items():
            if (before := getattr(changed, field)) != value:
                metadata[field] = {"before": before, "after": value}
                setattr(changed, field, value)
        if metadata:
            changed.updated_at = timezone.now()
            changed.save(using=databases.primary(), update_fields=[*metadata, "updated_at"])
            events.record("org.updated", actor.person, client, target=changed, **metadata)
        return access.with_owner(Organization.objects.filter(pk=changed.pk)).get()


def delete(caller: Person, session: Session, client: Client, org_id: str) -> None:
    """Delete an organization permanently, with its members and invitations.

    Raises as `access.acting` does, and `OrganizationInUse` if a table of the host project still
    references it.
    """
    recorded = False
    try:
        with access.acting(caller, session, org_id, Permission.DELETE) as actor:
            doomed, person = actor.organization, actor.person
            events.record("org.deleted", person, client, target=doomed, slug=doomed.slug)
            recorded = True
            remove(doomed)
    except IntegrityError as wrong:
        if not recorded:
            raise  # the audit entry could not be written
        raise org_errors.OrganizationInUse from wrong  # also from the commit: a deferred constraint


def remove(organization: Organization) -> None:
    """Delete a locked organization; no session has it as its active one after that."""
    active.forget(organization)
    organization.delete(using=databases.primary())


def _insert_numbered(user: Any, name: str) -> Organization | None:
    base, number = slugs.base_of(name), 0
    for _ in range(_TRIES):
        # The number rises even if the row of a concurrent transaction cannot be read yet.
        number = slugs.first_free(base, least=number + 1)
        created = _insert(user, name, slugs.numbered(base, number))
        if created is not None:
            return created
    return None


def _insert(user: Any, name: str, slug: str) -> Organization | None:
    """None if the slug is taken."""
    try:
        with transaction.atomic(using=databases.primary()):
            return Organization.objects.create(name=name, slug=slug, founder_id=user.pk)
    except IntegrityError:
        return None
