"""Decorators for views of the host project without the REST framework, plain or async.

    @organization_role_required("admin")
    def settings_page(request): ...

A refusal is answered in the envelope of the API, with its error code. With `redirect` or
`login_url`, visitors are led to the login page instead, as by `authservice.decorators`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar, cast, overload

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.http import HttpRequest, HttpResponseBase

from authservice.core.api import identity
from authservice.core.api.callers import require_caller
from authservice.kernel.errors import Fault
from authservice.organization import requests, roles

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
    `organization_role`."""
    guard = _guard(_leads_to(redirect, login_url))
    return guard(view) if view else guard


def organization_role_required(
    least: str, *, redirect: bool = False, login_url: str = ""
) -> Callable[[View], View]:
    """The same for members whose role is `least` or ranks above it. Raises `ValueError` for a role
    that is not in the table."""
    roles.require(least)
    return _guard(_leads_to(redirect, login_url), least=least)


def organization_permission_required(
    permission: str, *, redirect: bool = False, login_url: str = ""
) -> Callable[[View], View]:
    """The same for members whose role grants `permission`, such as `reports.export`. Raises
    `ValueError` for one that `ORGANIZATION.ROLES` gives to no role."""
    roles.require_granted(permission)
    return _guard(_leads_to(redirect, login_url), permission=permission)


def _leads_to(redirect: bool, login_url: str) -> str | None:
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
        member = requests.require_member(require_caller(request))
        requests.keep(request, member)
        requests.require_role(member, **required)
    except Fault as fault:
        return identity.refused(request, fault, leads_to)
    return None
