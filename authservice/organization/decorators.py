"""Decorators for views of the host project without the REST framework, plain or async.

    @organization_role_required("admin")
    def settings_page(request): ...

A refusal is answered in the envelope of the API, with its error code. With `redirect` or
`login_url`, visitors are led to the login page instead, as by `authservice.decorators`. A user who
signed in on the pages and is no member of an active organization is led to the page of their
organizations, on which they switch to one or create one. A role that is too low is always refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import wraps
from typing import Any, TypeVar, cast, overload

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponseBase
from django.urls import NoReverseMatch, reverse

from authservice.core.api import callers, identity
from authservice.core.api.identity import Identity
from authservice.core.users import person as people
from authservice.kernel.errors import Fault
from authservice.organization import requests, roles
from authservice.organization.conf import conf
from authservice.organization.errors import NotAMember, OrganizationNotActive
from authservice.organization.models import Membership

View = TypeVar("View", bound=Callable[..., Any])


@overload
def organization_member_required(view: View) -> View: ...
@overload
def organization_member_required(
    *, redirect: bool = ..., login_url: str = ...
) -> Callable[[View], View]: ...


def organization_member_required(
    view: View | None = None, *, redirect: bool = False, login_url: str = ""
) -> View | Callable[[View], View]:
    """Only members of the active organization reach the view. The request gets `organization` and
    `organization_role`, and `user`, `auser` and `auth` as by `login_required`."""
    guard = _guard(_leads_to(redirect, login_url))
    return guard(view) if view else guard


def organization_role_required(
    least: str, *, redirect: bool = False, login_url: str = ""
) -> Callable[[View], View]:
    """Only members of the active organization whose role is `least` or ranks above it reach the
    view. The request gets the same as by `organization_member_required`. Raises `ValueError` for a
    role that is not in the table."""
    roles.require(least)
    return _guard(_leads_to(redirect, login_url), least=least)


def organization_permission_required(
    permission: str, *, redirect: bool = False, login_url: str = ""
) -> Callable[[View], View]:
    """Only members of the active organization whose role grants `permission`, such as
    `reports.export`, reach the view. The request gets the same as by
    `organization_member_required`. Raises `ValueError` for a permission that `ORGANIZATION.ROLES`
    gives to no role."""
    roles.require_granted(permission)
    return _guard(_leads_to(redirect, login_url), permission=permission)


def _leads_to(redirect: bool, login_url: str) -> str | None:
    """The login page for visitors: "" for that of Django's settings, None for no redirect."""
    return login_url if redirect or login_url else None


def _guard(leads_to: str | None, **required: str) -> Callable[[View], View]:
    def guard(view: View) -> View:
        return cast(View, _guarded(view, leads_to, required))

    return guard


def _guarded(view: Any, leads_to: str | None, required: Mapping[str, str]) -> Any:
    if iscoroutinefunction(view):

        @wraps(view)
        async def enter_async(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            refused = await sync_to_async(_refused)(request, leads_to, required)
            return identity.varied(refused or await view(request, *args, **kwargs))

        return enter_async

    @wraps(view)
    def enter(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        refused = _refused(request, leads_to, required)
        return identity.varied(refused or view(request, *args, **kwargs))

    return enter


def _refused(
    request: HttpRequest, leads_to: str | None, required: Mapping[str, str]
) -> HttpResponseBase | None:
    try:
        requests.keep(request, None)
        identified = _require_identity(request)
        member = requests.require_member(identified.caller)
        requests.keep(request, member)
        requests.require_role(member, **required)
    except Fault as fault:
        choice = None
        has_none = fault.code in (OrganizationNotActive.code, NotAMember.code)
        if has_none and identity.may_redirect(request, leads_to):
            choice = _choice(request)
        return choice or identity.refused(request, fault, leads_to)
    identity.set_on(request, identified)
    return None


def _require_identity(request: HttpRequest) -> Identity:
    """The caller whose session may have an active organization. Raises as `Identification.require`,
    and `Unauthorized` for a user whom another package logged in: there is no session of ours. The
    token cookie of such a user counts, as in views of the REST framework."""
    identified = identity.of(request).require()
    return identified if identified.caller else Identity(callers.require_caller(request))


def _choice(request: HttpRequest) -> HttpResponseBase | None:
    """The redirect to the page on which a user switches to an organization or creates one, with
    the address of the view in `next`; None without a session of this service, without
    `authservice.pages`, and for a user who has none and may not create one."""
    caller = identity.of(request).caller
    if caller is None:
        return None
    memberships = Membership.objects.filter(user=caller.person.user.pk)
    if not (people.allows(conf.who_may_create, caller.person) or memberships.exists()):
        return None
    with suppress(NoReverseMatch):
        page = reverse("authservice:page-account-organizations")
        return redirect_to_login(request.get_full_path(), page)
    return None
