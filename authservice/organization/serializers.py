"""Input of the routes of this module, and responses about organizations: their types, and functions
that make them from rows.

`OrganizationData` adds claims to access tokens, and organizations to the responses of logins.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, TypedDict

from rest_framework import serializers

from authservice.core.api.serializers import Email, OwnRefreshToken, Url
from authservice.core.invitations.models import Status
from authservice.core.models import Session
from authservice.core.users.person import Person
from authservice.kernel.http.envelope import utc
from authservice.kernel.http.fields import Choice, JsonText, Text
from authservice.kernel.http.listing import ArrayQuery, SortDirection
from authservice.kernel.http.operations import Is, Moment, Named
from authservice.kernel.interfaces import SessionData
from authservice.kernel.settings import early
from authservice.organization import active, invitations, members, organizations, roles
from authservice.organization import models as rows
from authservice.organization.access import Actor
from authservice.organization.conf import NAME, conf
from authservice.organization.models import METADATA, SLUG, URL
from authservice.organization.roles import Permission

_UUID = 36  # characters


class Slug(Text):
    default_error_messages = dict.fromkeys(("slug", "max_length"), organizations.RULE)
    described: ClassVar = {"pattern": f"^{organizations.FORM.pattern}$"}

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=SLUG, trim_whitespace=False, **options)

    def to_internal_value(self, data: str) -> str:
        text = super().to_internal_value(data)
        if not organizations.is_slug(text):
            self.fail("slug")
        return text


class Metadata(JsonText):
    """JSON text of the project. The setting is read for each serializer."""

    def __init__(self, **options: Any) -> None:
        longest = early(lambda: conf.metadata_max, METADATA)
        super().__init__(max_length=longest, **options)


class OrganizationIn(serializers.Serializer[Any]):
    example: ClassVar = {"name": "Acme", "slug": "acme"}

    name = Text(max_length=NAME)
    slug = Slug(required=False, allow_blank=True, default="")


class OrganizationChangesIn(serializers.Serializer[Any]):
    null_omits: ClassVar = True
    at_least_one: ClassVar = ("name", "logo_url", "metadata")
    example: ClassVar = {"name": "Acme Limited"}

    name = Text(max_length=NAME, required=False)
    logo_url = Url(max_length=URL, required=False, allow_blank=True)
    metadata = Metadata(required=False, allow_blank=True)


class SwitchIn(serializers.Serializer[Any]):
    org_id = Text(max_length=_UUID)
    refresh_token = OwnRefreshToken()


class RoleChoice(Choice):
    """A role of the table, read for each serializer: the table depends on the settings."""

    def __init__(self, **options: Any) -> None:
        super().__init__(list(roles.table()), component="Role", **options)


class RoleIn(serializers.Serializer[Any]):
    role = RoleChoice()


class InvitationIn(serializers.Serializer[Any]):
    example: ClassVar = {"email": "bob@example.com", "role": "member"}

    email = Email()
    role = RoleChoice(required=False, default=roles.DEFAULT)


class ListQuery(ArrayQuery):
    """The parameters of all lists."""

    query = Text(max_length=254, required=False, allow_blank=True, default="")
    sort_dir = SortDirection()


class MembersQuery(ListQuery):
    sort_field = Choice(list(members.SORT_FIELDS), required=False, default="joined_at")


class InvitationsFilter(serializers.Serializer[Any]):
    """The filters of the list of an organization's invitations."""

    query = Text(max_length=254, required=False, allow_blank=True, default="")
    status = Choice(Status.values, component="InvitationStatus", required=False)


class OwnInvitationsQuery(ArrayQuery):
    """The list of a recipient has no filters."""

    sort_dir = SortDirection()
    sort_field = Choice(list(invitations.SORT_FIELDS), required=False, default="created_at")


class InvitationsQuery(OwnInvitationsQuery, InvitationsFilter):
    """The list of an organization."""


Role = Annotated[str, Is(enum=lambda: list(roles.table())), Named("Role")]
_RIGHTS = {permission: permission.name.lower() for permission in Permission}
Right = Annotated[str, Is(enum=list(_RIGHTS.values())), Named("Right")]


class Organization(TypedDict):
    """An organization. `owner_id` is the founder while an owner, then the oldest owner; `metadata`
    is JSON text, or empty."""

    id: str
    name: str
    slug: str
    owner_id: str
    logo_url: str
    metadata: str
    active: bool
    created_at: Moment
    updated_at: Moment | None


class OrganizationOfMember(Organization):
    """An organization, and what the caller may do in it: `may` are the rights of their `role`, and
    `manages` the roles that they may give to members and invitations, and whose members they may
    change and remove. All are as they were when the organization was read."""

    role: Role
    may: list[Right]
    manages: list[Role]


class MemberUser(TypedDict):
    """A member as a user."""

    id: str
    name: str
    email: str
    username: str
    avatar: str
    active: bool
    email_verified: bool
    created_at: Moment


class Membership(TypedDict):
    """A user's membership in an organization."""

    id: str
    org_id: str
    user_id: str
    role: Role
    joined_at: Moment


class Member(Membership):
    """A membership with its user."""

    user: MemberUser


class OwnOrganization(TypedDict):
    """An organization of the user who logs in, and the user's role in it."""

    id: str
    name: str
    slug: str
    role: Role


class OwnOrganizations(TypedDict):
    """The organizations of the user who logs in, in the order in which the user joined them. A new
    session has no active one; a signed-in user who accepts an invitation keeps that of the
    session."""

    organizations: list[OwnOrganization]
    active_organization: OwnOrganization | None


def organization(row: Any) -> Organization:
    """`row` is an `Organization` of `access.with_owner`, which adds `owner_pk`."""
    return {
        "id": str(row.pk),
        "name": row.name,
        "slug": row.slug,
        "owner_id": "" if row.owner_pk is None else str(row.owner_pk),
        "logo_url": row.logo_url,
        "metadata": row.metadata,
        "active": row.active,
        "created_at": utc(row.created_at),
        "updated_at": utc(row.updated_at),
    }


def organization_of_member(actor: Actor) -> OrganizationOfMember:
    """For an `Actor` of `access.find`."""
    return {
        **organization(actor.organization),
        "role": actor.role,
        "may": [name for right, name in _RIGHTS.items() if roles.permits(actor.role, right)],
        "manages": list(roles.managed_by(actor.role)),
    }


def membership(row: rows.Membership) -> Membership:
    return {
        "id": str(row.pk),
        "org_id": str(row.organization_id),
        "user_id": str(row.user_id),
        "role": row.role,
        "joined_at": utc(row.joined_at),
    }


def member(row: rows.Membership, person: Person) -> Member:
    """`person.account_row` is the row of the user's account."""
    user: MemberUser = {
        "id": person.id,
        "name": person.account_row.name or "",
        "email": person.email,
        "username": person.username,
        "avatar": person.account_row.avatar or "",
        "active": person.active,
        "email_verified": person.email_verified,
        "created_at": utc(person.account_row.created_at),
    }
    return {**membership(row), "user": user}


def own_organization(row: active.Own) -> OwnOrganization:
    return {"id": str(row.id), "name": row.name, "slug": row.slug, "role": row.role}


class OrganizationData(SessionData):
    """Fills the slot `session_data`: the organizations of a user, and the active one."""

    def claims(self, person: Person, session: Session) -> dict[str, Any]:
        """Runs no query for a session without an active organization."""
        if session.organization_id is None:
            return {}
        current = active.memberships_of(person).filter(organization=session.organization_id).first()
        if current is None:
            return {}
        return {
            "org_id": str(current.organization.pk),
            "org_slug": current.organization.slug,
            "org_role": current.role,
        }

    def extras(self, person: Person, current_session: Session | None) -> OwnOrganizations:
        """`current_session` is the session that a signed-in client keeps; None if the session is
        new."""
        own = [own_organization(row) for row in active.own(person)]
        active_id = str(current_session.organization_id) if current_session else ""
        active_one = next((row for row in own if row["id"] == active_id), None)
        # `own` lists the first 100.
        if active_one is None and current_session and current_session.organization_id:
            row = active.own_one(person, current_session.organization_id)
            active_one = own_organization(row) if row else None
        return {"organizations": own, "active_organization": active_one}

    def withholds_refresh(self) -> bool:
        """Whether a signed-in client must send its refresh token to get a new one."""
        return conf.switch_requires_refresh_token


session_data = OrganizationData()
