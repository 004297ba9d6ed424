"""Decorators for views of the host project without the REST framework, plain or async.

    @organization_role_required("admin")
    def settings_page(request): ...

A refusal is answered in the envelope of the API, with its error code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar, cast

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.http import HttpRequest, HttpResponse

from authservice.core.api.callers import require_caller
from authservice.core.api.identity import varied
from authservice.kernel.errors import Fault
from authservice.kernel.http.envelope import refusal
from authservice.organization import requests, roles

View = TypeVar("View", bound=Callable[..., Any])


def organization_member_required(view: View) -> View:
    """Only members of the active organization reach the view. The request gets `organization` and
    `organization_role`."""
    return cast(View, _guarded(view))


def organization_role_required(least: str) -> Callable[[View], View]:
    """The same for members whose role is `least` or ranks above it. Raises `ValueError` for a role
    that is not in the table."""
    roles.require(least)

    def guard(view: View) -> View:
        return cast(View, _guarded(view, least=least))

    return guard


def organization_permission_required(permission: str) -> Callable[[View], View]:
    """The same for members whose role grants `permission`, such as `reports.export`. Raises
    `ValueError` for one that `ORGANIZATION.ROLES` gives to no role."""
    roles.require_granted(permission)

    def guard(view: View) -> View:
        return cast(View, _guarded(view, permission=permission))

    return guard


def _guarded(view: Any, **required: str) -> Any:
    if iscoroutinefunction(view):

        @wraps(view)
        async def enter_async(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            refused = await sync_to_async(_refused)(request, required)
            return varied(refused or await view(request, *args, **kwargs))

        return enter_async

    @wraps(view)
    def enter(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return varied(_refused(request, required) or view(request, *args, **kwargs))

    return enter


def _refused(request: HttpRequest, required: Mapping[str, str]) -> HttpResponse | None:
    try:
        requests.keep(request, None)
        member = requests.require_member(require_caller(request))
        requests.keep(request, member)
        requests.require_role(member, **required)
    except Fault as fault:
        return refusal(fault)
    return None
