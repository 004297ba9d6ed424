"""The members of an organization: list, join, change a role, remove and leave. A new user may get
an organization; when a user is deleted, in whatever way, other members become owners of their
organizations.

Staff delete users over the API and in Django admin, the cleanup deletes unused accounts, and a host
project deletes users in its own code. All of them send `pre_delete`, in the transaction of the
deletion, so no organization is left without an owner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

from django.db.models import (
    Case,
    Count,
    Exists,
    IntegerField,
    OuterRef,
    QuerySet,
    Value,
    When,
    Window,
)
from django.db.models.signals import post_delete

from authservice.core.credentials import passwords
from authservice.core.models import Account, Session
from authservice.core.users import lookup
from authservice.core.users import person as people
from authservice.core.users.person import Person
from authservice.core.users.user_model import before_deletion
from authservice.kernel import databases, events, sql
from authservice.kernel.client import Client
from authservice.kernel.events import Event, EventListener
from authservice.kernel.interfaces import Page
from authservice.organization import access, active, errors, organizations, roles
from authservice.organization.access import Actor
from authservice.organization.conf import conf, name_from
from authservice.organization.models import Membership, Organization
from authservice.organization.roles import Permission

_ACCOUNT = "user__authservice_account__"
# The sort fields of the list, and the columns of the table.
SORT_FIELDS = {
    "joined_at": "joined_at",
    "role": "role",
    "name": f"{_ACCOUNT}name",
    "email": f"{_ACCOUNT}email",
    "username": f"{_ACCOUNT}username",
}
_SEARCHED = ("name", "email", "username")
_COLUMNS = tuple(field.attname for field in Membership._meta.concrete_fields)
_BATCH = 100
Member = tuple[Membership, Person]


def page_of(organization: Organization, page: Page, query: str) -> tuple[list[Member], int]:
    """The members on a page with their users, and the total over all pages. `query` is searched in
    name, e-mail address and username."""
    memberships = Membership.objects.filter(organization=organization)
    if query:
        matches = sql.containing(query, *_SEARCHED, using=databases.primary())
        accounts = Account.objects.filter(matches, user=OuterRef("user_id"))
        memberships = memberships.filter(Exists(accounts))
    in_order = page.order(SORT_FIELDS[page.sort_field])
    memberships = memberships.order_by(*in_order)
    # Read the keys of the page first: a join with the accounts of all rows before the page would
    # take most of the time. The same statement counts the total, since a second one would search
    # again. Each row has the total, so only a page after the last one needs a second statement.
    rows = list(page.cut(memberships.annotate(total=Window(Count("*"))).values_list("pk", "total")))
    if page.offset and not rows:
        return [], memberships.count()
    keys = [pk for pk, _ in rows]
    total = rows[0][1] if rows else 0
    return _read(Membership.objects.filter(pk__in=keys).order_by(*in_order)), total


def get(organization: Organization, user_id: str) -> Member:
    """One member with their user. Raises `MemberNotFound`."""
    key = lookup.parse_id(user_id)
    matches = _read(Membership.objects.filter(organization=organization, user=key)) if key else []
    if not matches:
        raise errors.MemberNotFound
    return matches[0]


def add(organization: Organization, user: Any, role: str) -> Membership:
    """Add a member to a locked organization. Raises `AlreadyAMember` and `TooManyMembers`."""
    rows = Membership.objects.filter(organization=organization)
    if rows.filter(user=user.pk).exists():
        raise errors.AlreadyAMember
    require_room(organization)
    return Membership.objects.create(organization=organization, user_id=user.pk, role=role)


def require_room(organization: Organization) -> None:
    """Raises `TooManyMembers` if the organization cannot have another member."""
    rows = Membership.objects.filter(organization=organization)
    if conf.max_members and rows.count() >= conf.max_members:
        raise errors.TooManyMembers


def change_role(
    caller: Person,
    session: Session,
    client: Client,
    org_id: str,
    user_id: str,
    role: str,
    *,
    prove: Callable[[], None],
) -> None:
    """Give a member another role. `prove` is called before somebody becomes an owner or ceases to
    be one, and may raise. Raises as `access.acting` does, `MemberNotFound`, `InsufficientRole` and
    `LastOwner`."""
    with access.acting(caller, session, org_id, Permission.CHANGE_ROLES) as actor:
        member = _find(actor, user_id)
        actor.require_manages(member.role, role)
        if member.role == role:
            return
        require_other_owner(member)
        if roles.OWNER in (member.role, role):
            prove()
        change = {"role": {"before": member.role, "after": role}}
        Membership.objects.filter(pk=member.pk).update(role=role)
        _record("org.member.role_changed", actor, member, client, **change)


def remove(
    caller: Person,
    session: Session,
    client: Client,
    org_id: str,
    user_id: str,
    *,
    prove: Callable[[], None],
) -> None:
    """Remove a member. Every member may leave, that is remove themselves. `prove` is called before
    an owner is removed, and may raise. Raises as `change_role` does."""
    leaving = user_id == caller.id
    permission = None if leaving else Permission.REMOVE
    with access.acting(caller, session, org_id, permission) as actor:
        member = _find(actor, user_id)
        if not leaving:
            actor.require_manages(member.role)
        require_other_owner(member)
        if member.role == roles.OWNER:
            prove()
        _record("org.member.removed", actor, member, client, role=member.role, left=leaving)
        discard(member)


def discard(member: Membership) -> None:
    """Delete a member of a locked organization, which then is no longer the active one of any of
    the member's sessions."""
    Membership.objects.filter(pk=member.pk).delete()
    active.forget_of(member)


def require_other_owner(member: Membership) -> None:
    """Raises `LastOwner` if the member is the only owner of the locked organization."""
    if member.role == roles.OWNER and not other_owners(member).exists():
        raise errors.LastOwner


def other_owners(member: Membership) -> QuerySet[Membership]:
    rows = Membership.objects.filter(organization=member.organization_id, role=roles.OWNER)
    return rows.exclude(pk=member.pk)


def _find(actor: Actor, user_id: str) -> Membership:
    key = lookup.parse_id(user_id)
    rows = Membership.objects.select_related("user")
    member = rows.filter(organization=actor.organization, user=key).first() if key else None
    if member is None:
        raise errors.MemberNotFound
    return member


def in_batches(rows: QuerySet[Membership]) -> Iterator[Member]:
    """The members with their users, in the order of the rows. A batch is read when its first member
    is needed: an organization may have many members."""
    for start in count(0, _BATCH):
        batch = _read(rows[start : start + _BATCH])
        yield from batch
        if len(batch) < _BATCH:
            return


def _read(rows: QuerySet[Membership]) -> list[Member]:
    """The members with their users, in one query."""
    using = databases.primary()
    columns = people.columns(user="user__", account=_ACCOUNT)
    values = rows.values_list(*columns, *_COLUMNS)
    width = people.width()
    return [
        (Membership.from_db(using, _COLUMNS, row[width:]), people.read(row, using))
        for row in values
    ]


def _record(action: str, actor: Actor, member: Membership, client: Client, **metadata: Any) -> None:
    organization = str(actor.organization.pk)
    target = member.user
    events.record(
        action, actor.person, client, target=target, organization=organization, **metadata
    )


def connect_deletion() -> None:
    post_delete.connect(
        _retire_slug, sender=Organization, dispatch_uid="authservice.organization.slug"
    )
    before_deletion(_before_deletion, "authservice.organization.members")


def _retire_slug(instance: Organization, using: str, **_: Any) -> None:
    """However an organization is deleted, its slug stays reserved for a while."""
    if using == databases.primary():
        organizations.retire_slug(instance.slug)


def _before_deletion(instance: Any, using: str, **_: Any) -> None:
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
            _record_succession("org.deleted", organization, slug=organization.slug)
            organizations.remove(organization)
            continue
        if member.role == roles.OWNER and not other_owners(member).exists():
            promoted, person = _successor(other_members)
            change = {"role": {"before": promoted.role, "after": roles.OWNER}}
            Membership.objects.filter(pk=promoted.pk).update(role=roles.OWNER)
            organization_id = str(organization.pk)
            _record_succession(
                "org.member.role_changed", person.user, organization=organization_id, **change
            )
        # Not left to the cascade: if several users are deleted together, the next one must not
        # count this one among the members who stay.
        discard(member)


def _successor(other_members: QuerySet[Membership]) -> Member:
    """The admin who joined first, else the member of the highest rank who joined first. Suspended
    members are skipped, since they cannot manage the organization, unless all are suspended."""
    ranks = [When(role=role.name, then=Value(role.rank)) for role in roles.table().values()]
    rank = Case(*ranks, default=Value(0), output_field=IntegerField())
    ranked = other_members.order_by(-rank, "joined_at", "pk")
    in_order = in_batches(ranked)
    active = (candidate for candidate in in_order if candidate[1].active)
    return next(active, None) or next(in_batches(ranked[:1]))


def _record_succession(action: str, target: Any, **metadata: Any) -> None:
    # By the system: who deleted the user is recorded with that deletion.
    events.record_by_staff(action, None, target, Client(), **metadata)


class AutoCreate(EventListener):
    """Fills the slot `event_listener`: creates an organization for a new user, in the transaction
    of the sign-up."""

    def listens(self, action: str) -> bool:
        """Whether an organization may be created after this action."""
        return action == "auth.signup" and conf.auto_create

    def record(self, event: Event) -> None:
        if event.metadata.get("method") == organizations.INVITATION:
            return
        person = lookup.get_person(event.user)
        local_part = person.email.partition("@")[0]
        user_name = person.account.name or person.username or local_part or person.id
        created = organizations.found_by(
            person.user, name=name_from(conf.auto_create_name, user_name)
        )
        events.record("org.created", person, event.client, target=created, slug=created.slug)


on_event = AutoCreate()
