"""Decorators for views of the host project without the REST framework, plain or async.

    @organization_role_required("admin")
    def settings_page(request): ...

A refusal is answered in the envelope of the API, with its error code.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.http import HttpRequest, HttpResponse

from authservice.core.api.authentication import require_caller
from authservice.core.api.identity import varied
from authservice.kernel.errors import Fault
from authservice.kernel.http.envelope import refusal
from authservice.organization import errors, requests, roles

View = TypeVar("View", bound=Callable[..., Any])


def organization_member_required(view: View) -> View:
    """Only members of the active organization reach the view. The request gets `organization` and
    `organization_role`."""
    return cast(View, _guarded(view, ""))


def organization_role_required(least: str) -> Callable[[View], View]:
    """The same for members whose role is `least` or above it in the table of roles. Raises
    `ValueError` for a role that is not in the table."""
    if least not in roles.ROLES:
        raise ValueError(f"{least!r} is not one of the roles {', '.join(roles.ROLES)}.")

    def guard(view: View) -> View:
        return cast(View, _guarded(view, least))

    return guard


def _guarded(view: Any, least: str) -> Any:
    if iscoroutinefunction(view):

        @wraps(view)
        async def enter_async(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            refused = await sync_to_async(_refused)(request, least)
            return varied(refused or await view(request, *args, **kwargs))

        return enter_async

    @wraps(view)
    def enter(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return varied(_refused(request, least) or view(request, *args, **kwargs))

    return enter


def _refused(request: HttpRequest, least: str) -> HttpResponse | None:
    try:
        found = requests.membership_of(require_caller(request))
        requests.keep(request, found)
        if found is None:
            raise errors.NotAMember
        if least and not roles.reaches(found.role, least):
            raise errors.InsufficientRole
    except Fault as fault:
        return refusal(fault)
    return None
