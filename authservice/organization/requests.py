"""The active organization in views of the host project.

It is the one in the access token of the request, if its user is still a member: the row is read in
each request that asks, so a member who was removed is refused at once, whatever the token says.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponseBase

from authservice.core.api import authentication
from authservice.core.api.identity import varied
from authservice.core.sessions.authentication import Caller
from authservice.kernel import errors
from authservice.organization import access, active
from authservice.organization.models import Membership

_KEPT = "_authservice_membership"


def membership_of(caller: Caller) -> Membership | None:
    """The membership in the organization of the token, with that organization; one query."""
    claimed = caller.claims.get("org_id")
    key = access.parse_id(claimed) if isinstance(claimed, str) else None
    if key is None:
        return None
    return active.memberships_of(caller.person).filter(organization=key).first()


def find(request: HttpRequest) -> Membership | None:
    """The same for a request; None without a valid token, and for a forged request. The result is
    kept with the request."""
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
    try:
        caller = authentication.require_caller(request)
    except (errors.Unauthorized, errors.InvalidToken, errors.TokenExpired, errors.InvalidCsrf):
        return None
    return membership_of(caller)
