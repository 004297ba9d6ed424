"""The active organization in views of the host project.

The access token of the request names the organization; for a user of the pages, who has no token,
the row of the session does. The user must still be a member: each request that needs the membership
reads its row, so a member who was removed is refused at once, whatever the token says.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponseBase

from authservice.core.api import identity
from authservice.core.sessions.bearer import Caller
from authservice.organization import access, active, roles
from authservice.organization import errors as org_errors
from authservice.organization.models import Membership

# The attribute of a request for its membership.
_ATTRIBUTE = "_authservice_membership"


def membership_of(caller: Caller) -> Membership | None:
    """The membership in the active organization, with that organization; one query.

    Raises `InvalidToken`, whatever `STATELESS.CHECK` says, and as `Caller.require_live` does.
    """
    caller.require_live()
    active_id = caller.organization_id
    key = access.parse_id(active_id) if active_id else None
    if key is None:
        return None
    return active.memberships_of(caller.person).filter(organization=key).first()


def require_member(caller: Caller | None) -> Membership:
    """The membership of `membership_of`; raises if there is none. `caller` is None for a user of
    another authentication class, who has no token.

    Raises as `membership_of` does, `OrganizationNotActive` if the session has no active
    organization and the user has some to choose from, otherwise `NotAMember`.
    """
    membership = membership_of(caller) if caller else None
    if caller is not None and membership is None and not caller.organization_id:
        # Even the only organization of a user is not chosen automatically: the meaning of a request
        # must not change with the next invitation that the user accepts.
        choice = [{**row._asdict(), "id": str(row.id)} for row in active.own(caller.person)]
        if choice:
            raise org_errors.OrganizationNotActive(choice)
    if membership is None:
        raise org_errors.NotAMember
    return membership


def require_role(member: Membership, *, least: str = "", permission: str = "") -> None:
    """Raises `InsufficientRole` unless the role is `least` or above it and grants `permission`; an
    empty text requires nothing."""
    if least and not roles.reaches(member.role, least):
        raise org_errors.InsufficientRole
    if permission and not roles.grants(member.role, permission):
        raise org_errors.InsufficientRole


def find(request: HttpRequest) -> Membership | None:
    """The membership of `membership_of` for a request; None without a valid token, and for a forged
    request. The request stores the result for the next call."""
    forget_forged(request)
    if not hasattr(request, _ATTRIBUTE):
        caller = identity.of(request).caller
        keep(request, membership_of(caller) if caller else None)
    membership: Membership | None = getattr(request, _ATTRIBUTE)
    return membership


def keep(request: Any, membership: Membership | None) -> None:
    """Store the membership in the request, as `organization` and `organization_role` too."""
    setattr(request, _ATTRIBUTE, membership)
    request.organization = membership.organization if membership else None
    request.organization_role = membership.role if membership else ""


def forget_forged(request: HttpRequest) -> None:
    """Drop the membership that a middleware read before Django found the view, if the view refuses
    the user as forged."""
    if hasattr(request, _ATTRIBUTE) and identity.of(request).was_forged:
        keep(request, None)


def varied_if_read(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """Tell caches that the response depends on the caller, if the organization was read."""
    return identity.varied(response) if hasattr(request, _ATTRIBUTE) else response
