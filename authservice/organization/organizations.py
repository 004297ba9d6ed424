"""Create, change, list and delete organizations; their slugs, and the one that a new user gets."""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet

from authservice.core.models import Session
from authservice.core.sessions import sessions
from authservice.core.users import person as people
from authservice.core.users.person import Person
from authservice.kernel import clock, databases, errors, events, throttling
from authservice.kernel.client import Client
from authservice.kernel.languages import phrase
from authservice.organization import access, active, roles
from authservice.organization import errors as org_errors
from authservice.organization.conf import conf
from authservice.organization.models import SLUG, FormerSlug, Membership, Organization
from authservice.organization.roles import Permission

# No hyphen at either end; 2 to 64 characters.
FORM = re.compile(r"[a-z0-9][a-z0-9-]{0,62}[a-z0-9]")
RULE = phrase(
    "Must be 2 to 64 lowercase characters a-z, digits and hyphens, with no hyphen at either end."
)
_SHORTEST = 2
# The highest number in a slug. Further organizations with the same name get a random suffix.
_NUMBERED = 100
# How many slugs with the same start are read. Beyond that, a number may be tried that is taken.
_MOST_READ = 1000
# How long a former slug is reserved: as long as a former address of an account. Access tokens with
# the slug are valid for minutes only, but links with it stay in use for longer.
FORMER_SLUG_TTL = timedelta(hours=72)
_TRIES = 200  # more than there are concurrent requests for the same slug
# The `method` of a sign-up by an invitation: the user becomes a member of another organization.
INVITATION = "org-invitation"


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
    `SlugTaken`, `TooManyRequests`, and `Forbidden` if the user may not create any.
    """
    throttling.count("org-create", caller.id)
    with sessions.changing(caller, session) as person:
        if not people.allows(conf.who_may_create, person):
            raise errors.Forbidden
        owned = Membership.objects.filter(user=person.user.pk, role=roles.OWNER).count()
        if conf.max_per_user and owned >= conf.max_per_user:
            raise org_errors.TooManyOrganizations
        created = found_by(person.user, name=name, slug=slug)
        events.record("org.created", person, client, target=created, slug=created.slug)
    return created


@databases.inside_transaction
def found_by(user: Any, *, name: str, slug: str = "") -> Organization:
    """Insert an organization and its owner. Raises `SlugTaken`."""
    created = _insert(user, name, slug) if slug else _insert_numbered(user, name)
    if created is None:
        raise org_errors.SlugTaken
    Membership.objects.create(organization=created, user_id=user.pk, role=roles.OWNER)
    created.owner_pk = user.pk  # type: ignore[attr-defined]
    return created


def _insert_numbered(user: Any, name: str) -> Organization | None:
    base = slug_base(name)
    number = 0
    for _ in range(_TRIES):
        # `least` makes the number rise even if the slug is taken by a concurrent transaction, whose
        # row cannot be read yet.
        number = first_free_slug(base, least=number + 1)
        created = _insert(user, name, numbered_slug(base, number))
        if created is not None:
            return created
    return None


def _insert(user: Any, name: str, slug: str) -> Organization | None:
    """None if the slug is taken or reserved."""
    try:
        with transaction.atomic(using=databases.primary()):
            created = Organization.objects.create(name=name, slug=slug, founder_id=user.pk)
            # After the insertion, which waits for a transaction that deletes an organization with
            # this slug: now its reservation can be read.
            if is_reserved_slug(slug):
                raise _Reserved
            return created
    except (IntegrityError, _Reserved):
        return None


class _Reserved(Exception):
    """The slug is free, but reserved: the insertion is rolled back."""


def update(
    caller: Person, session: Session, client: Client, org_id: str, changes: Mapping[str, str]
) -> Organization:
    """Change name, logo or metadata; fields with an equal value do not change. Raises as
    `access.acting` does."""
    with access.acting(caller, session, org_id, Permission.UPDATE) as actor:
        organization = actor.organization
        metadata = {}
        for field, value in changes.items():
            if (before := getattr(organization, field)) != value:
                metadata[field] = {"before": before, "after": value}
                setattr(organization, field, value)
        if metadata:
            organization.updated_at = clock.now()
            organization.save(using=databases.primary(), update_fields=[*metadata, "updated_at"])
            events.record("org.updated", actor.person, client, target=organization, **metadata)
        return access.with_owner(Organization.objects.filter(pk=organization.pk)).get()


def delete(caller: Person, session: Session, client: Client, org_id: str) -> None:
    """Delete an organization permanently, with its members and invitations.

    Raises as `access.acting` does, and `OrganizationInUse` if a table of the host project still
    references it.
    """
    recorded = False
    try:
        with access.acting(caller, session, org_id, Permission.DELETE) as actor:
            organization, person = actor.organization, actor.person
            events.record(
                "org.deleted", person, client, target=organization, slug=organization.slug
            )
            recorded = True
            remove(organization)
    except IntegrityError as error:
        if not recorded:
            raise  # the audit entry could not be written
        # Raised by the deletion, or by the commit if the constraint is deferred.
        raise org_errors.OrganizationInUse from error


def remove(organization: Organization) -> None:
    """Delete a locked organization, which then is no longer the active one of any session. A
    receiver in `members` reserves its slug."""
    active.forget(organization)
    organization.delete(using=databases.primary())


def is_reserved_slug(slug: str) -> bool:
    """Whether no new organization may have the slug: the settings reserve it, or another one had
    it less than `FORMER_SLUG_TTL` ago."""
    since = clock.now() - FORMER_SLUG_TTL
    former = FormerSlug.objects.filter(slug=slug, retired_at__gt=since)
    return slug in conf.reserved_slugs or former.exists()


def retire_slug(slug: str) -> None:
    """Reserve the slug of an organization that was deleted or has another slug now."""
    FormerSlug.objects.create(slug=slug)


def expired_rows() -> QuerySet[FormerSlug]:
    """The rows of slugs that are no longer reserved."""
    return FormerSlug.objects.filter(retired_at__lte=clock.now() - FORMER_SLUG_TTL)


def is_slug(text: str) -> bool:
    return FORM.fullmatch(text) is not None


def slug_base(name: str) -> str:
    """A slug from a name, without its suffix; random if the name has too few ASCII characters."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    base = re.sub(r"[^a-z0-9]+", "-", plain)[:SLUG].strip("-")
    return base if len(base) >= _SHORTEST else f"org-{secrets.token_hex(6)}"


def numbered_slug(base: str, number: int) -> str:
    """The base itself for 1, then `base-2`, `base-3`, …; cut to 64 characters."""
    if number == 1:
        return base
    suffix = f"-{number}" if number <= _NUMBERED else f"-{secrets.token_hex(6)}"
    return base[: SLUG - len(suffix)].rstrip("-") + suffix


def first_free_slug(base: str, *, least: int) -> int:
    """The first number, from `least` on, whose `numbered_slug` no organization has."""
    # A long base is cut to make room for the suffix, so look for slugs that begin with its start.
    start = base[: SLUG - len(f"-{_NUMBERED}")].rstrip("-")
    rows = Organization.objects.filter(slug__startswith=start)
    used_slugs = set(rows.values_list("slug", flat=True)[:_MOST_READ])
    number = least
    while number <= _NUMBERED and numbered_slug(base, number) in used_slugs:
        number += 1
    return number
