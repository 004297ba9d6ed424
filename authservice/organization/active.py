"""The active organization of a session, and the switch to it.

The session names the organization. Whether its user is still a member, and with which role, is read
whenever an access token is issued, so a claim ends at the next refresh.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import QuerySet

from authservice.core.models import Session
from authservice.core.sessions import rotation
from authservice.core.sessions.sessions import Tokens
from authservice.core.users.person import Person
from authservice.kernel import databases, errors, events
from authservice.kernel.client import Client
from authservice.kernel.secret import Secret
from authservice.kernel.sql import Select, param
from authservice.organization import access
from authservice.organization.models import Membership, Organization
from authservice.organization.roles import Permission


class Own(NamedTuple):
    """An active organization of a user, and the user's role in it."""

    id: UUID
    name: str
    slug: str
    role: str


# Organizations in the response to a login, and to choose from. A menu of more needs a search.
LISTED = 100
# Each login runs this query. Building it each time took a third of the CPU time of a login.
_OWN = Select(
    lambda: _memberships(param("user", Membership)).values_list(
        "organization", "organization__name", "organization__slug", "role"
    )[:LISTED]
)


def memberships_of(person: Person) -> QuerySet[Membership]:
    """The user's memberships in active organizations, which are read with them, the oldest
    first."""
    return _memberships(person.user.pk).select_related("organization")


def own(person: Person) -> list[Own]:
    """The first 100 organizations of `memberships_of` and the roles in them, without model
    instances."""
    return [Own(*row) for row in _OWN.all(databases.primary(), user=person.user.pk)]


def own_one(person: Person, organization_id: UUID) -> Own | None:
    """One of the user's active organizations; None if the user is not a member of it."""
    row = memberships_of(person).filter(organization=organization_id).first()
    if row is None:
        return None
    return Own(row.organization.pk, row.organization.name, row.organization.slug, row.role)


def _memberships(user: Any) -> QuerySet[Membership]:
    rows = Membership.objects.filter(user=user, organization__active=True)
    return rows.order_by("joined_at", "pk")


def switch(
    caller: Person, session: Session, client: Client, org_id: str, refresh_token: Secret
) -> Tokens:
    """Make an organization the active one of the session. `refresh_token` is the one that the
    client sent along, or empty; see `rotation.continued`.

    Raises as `access.acting` does, and `InvalidRefreshToken`.
    """
    with access.acting(caller, session, org_id, Permission.SWITCH) as actor:
        organization, person = actor.organization, actor.person
        present = rotation.find_valid(session.pk)
        if present is None:
            raise errors.InvalidToken
        rotation.require_usable(present, refresh_token)
        Session.objects.filter(pk=session.pk).update(organization_id=organization.pk)
        present.organization_id = organization.pk
        events.record("org.switched", person, client, target=organization)
        return rotation.continued(person, present, refresh_token)


def forget_of(member: Membership) -> None:
    """Remove an organization from the sessions of a former member."""
    _forget(Session.objects.filter(user=member.user_id), member.organization_id)


def forget(organization: Organization) -> None:
    """Remove an organization from the sessions of all its members."""
    # By user: sessions have no index on the organization.
    members = Membership.objects.filter(organization=organization).values("user_id")
    _forget(Session.objects.filter(user__in=members), organization.pk)


def _forget(rows: QuerySet[Session], key: Any) -> None:
    # Locked in one order, so that concurrent transactions cannot deadlock.
    sessions = rows.filter(organization_id=key).order_by("pk").select_for_update()
    pks = list(sessions.values_list("pk", flat=True))
    if pks:
        Session.objects.filter(pk__in=pks).update(organization_id=None)
