"""The active organization in views of the host project.

It is the one in the access token of the request, if its user is still a member: the row is read in
each request that asks, so a member who was removed is refused at once, whatever the token says.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponseBase

from authservice.core.api import identity
from authservice.core.api.identity import varied
from authservice.core.sessions.bearer import Caller
from authservice.organization import access, active, roles
from authservice.organization import errors as org_errors
from authservice.organization.models import Membership

_KEPT = "_authservice_membership"


def membership_of(caller: Caller) -> Membership | None:
    """The membership in the organization of the token, with that organization; one query.

    Raises `InvalidToken`, whatever `STATELESS.CHECK` says, and as `Caller.require_live` does.
    """
    caller.require_live()
    claimed = caller.claims.get("org_id")
    key = access.parse_id(claimed) if isinstance(claimed, str) else None
    if key is None:
        return None
    return active.memberships_of(caller.person).filter(organization=key).first()


def require_member(caller: Caller | None) -> Membership:
    """The same; a user of another authentication class has no token, and so no `caller`.

    Raises as `membership_of` does, `OrganizationNotActive` if the session has no active
    organization and the user has some to choose from, otherwise `NotAMember`.
    """
    membership = membership_of(caller) if caller else None
    if caller is not None and membership is None and not caller.claims.get("org_id"):
        # Not the only one of the user by itself: the claims of the token name none, and the
        # meaning of a request must not change with the next invitation that the user accepts.
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
    """That of `membership_of` for a request; None without a valid token, and for a forged request.
    The result is kept with the request."""
    if not hasattr(request, _KEPT):
        keep(request, _of_token(request))
    found: Membership | None = getattr(request, _KEPT)
    return found


def keep(request: Any, membership: Membership | None) -> None:
    """Store the result: `organization` and `organization_role` of the request."""
    setattr(request, _KEPT, membership)
    request.organization = membership.organization if membership else None
    request.organization_role = membership.role if membership else ""


def finish(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """Tell caches that the response depends on the caller, if the organization was read."""
    return varied(response) if hasattr(request, _KEPT) else response


def _of_token(request: HttpRequest) -> Membership | None:
    caller = identity.of(request).caller
    return membership_of(caller) if caller else None
