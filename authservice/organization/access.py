"""Who may do what: the organization in a path, and the caller's role in it.

A route that reads calls `find`. A route that changes something runs in `acting`, which checks the
role under the lock of the organization: a member who was removed or demoted a moment ago changes
nothing. The lock order is users, one-time tokens, accounts, organizations.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from authservice.core.models import Session
from authservice.core.sessions import sessions
from authservice.core.users.person import Person
from authservice.organization import errors, roles
from authservice.organization.models import Membership, Organization
from authservice.organization.roles import Permission


@dataclass(frozen=True)
class Actor:
    """A member and an organization: the member's role in it."""

    organization: Organization
    person: Person
    role: str

    def require(self, permission: Permission) -> None:
        """Raises `InsufficientRole`."""
        if not roles.permits(self.role, permission):
            raise errors.InsufficientRole

    def require_manages(self, *names: str) -> None:
        """Raises `InsufficientRole` unless the role manages all of these."""
        if not roles.manages(self.role, *names):
            raise errors.InsufficientRole


def find(org_id: str, person: Person, permission: Permission = Permission.READ) -> Actor:
    """The caller as a member of an active organization, in one query.

    Raises `OrganizationNotFound`, `NotAMember` or `InsufficientRole`.
    """
    own = Membership.objects.filter(organization=OuterRef("pk"), user=person.user.pk)
    rows = with_owner(Organization.objects.filter(pk=key_of(org_id), active=True))
    organization = rows.annotate(own_role=Subquery(own.values("role")[:1])).first()
    if organization is None:
        raise errors.OrganizationNotFound
    return _actor(organization, person, getattr(organization, "own_role", None), permission)


@contextmanager
def acting(
    caller: Person, session: Session, org_id: str, permission: Permission | None
) -> Iterator[Actor]:
    """A transaction in which a member changes something; yields the caller as a member.

    The transaction has locked the caller and the organization. Raises `InvalidToken` if the session
    is no longer valid, and as `find` does; `permission` is None for an action that every member may
    take.
    """
    with sessions.changing(caller, session) as person:
        organization = lock(key_of(org_id))
        rows = Membership.objects.filter(organization=organization, user=person.user.pk)
        role = rows.values_list("role", flat=True).first()
        yield _actor(organization, person, role, permission)


def lock(key: UUID) -> Organization:
    """Lock an active organization until the transaction ends. Every change of its members takes
    this lock first. Raises `OrganizationNotFound`."""
    rows = Organization.objects.select_for_update().filter(pk=key, active=True)
    organization = rows.order_by().first()
    if organization is None:
        raise errors.OrganizationNotFound
    return organization


def parse_id(text: str) -> UUID | None:
    """The UUID of a canonical text; None for every other text."""
    try:
        key = UUID(text)
    except ValueError:
        return None
    return key if str(key) == text else None


def key_of(org_id: str) -> UUID:
    """Raises `OrganizationNotFound` for a text that is not an id."""
    key = parse_id(org_id)
    if key is None:
        raise errors.OrganizationNotFound
    return key


def with_owner(rows: QuerySet[Organization]) -> QuerySet[Organization]:
    """The organizations with `owner_pk`: the founder if they are an owner, otherwise the oldest
    owner."""
    owners = Membership.objects.filter(organization=OuterRef("pk"), role=roles.OWNER)
    founder = owners.filter(user=OuterRef("founder")).values("user_id")[:1]
    oldest = owners.order_by("joined_at", "id").values("user_id")[:1]
    # The output field is named, since an expression does not convert a foreign key to the type of
    # the key that it references.
    key = Membership._meta.get_field("user").target_field
    owner = Coalesce(Subquery(founder), Subquery(oldest), output_field=key)
    return rows.annotate(owner_pk=owner)


def _actor(
    organization: Organization, person: Person, role: str | None, permission: Permission | None
) -> Actor:
    if role is None:
        raise errors.NotAMember
    actor = Actor(organization, person, role)
    if permission is not None:
        actor.require(permission)
    return actor
