"""For views of the host project without the REST framework, plain or async.

    @login_required
    def invoices(request): ...

    @login_required(redirect=True)
    async def account_page(request): ...

They work with `AuthserviceMiddleware` and without it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast, overload

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.http import HttpRequest, HttpResponseBase

from authservice.core.api import identity
from authservice.kernel.errors import Fault

View = TypeVar("View", bound=Callable[..., Any])


@overload
def login_required(view: View) -> View: ...
@overload
def login_required(*, redirect: bool = ..., login_url: str = ...) -> Callable[[View], View]: ...


def login_required(
    view: View | None = None, *, redirect: bool = False, login_url: str = ""
) -> View | Callable[[View], View]:
    """Only signed-in users reach the view. The request gets `user`, `auser` and `auth`, as by
    `AuthserviceMiddleware`.

    Other requests get the error of the API in its envelope or, with `redirect` or `login_url`, a
    redirect to that address (default: Django's `LOGIN_URL`) with the address of the view in `next`.
    A request with an `Authorization` header is not redirected, and a forged one is refused with 403
    in any case.
    """

    leads_to = login_url if redirect or login_url else None

    def guard(view: View) -> View:
        return cast(View, _guarded(view, leads_to))

    return guard(view) if view else guard


def _guarded(view: Any, login_url: str | None) -> Any:
    if iscoroutinefunction(view):

        @wraps(view)
        async def enter_async(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            refused = await sync_to_async(_refused)(request, login_url)
            return identity.varied(refused or await view(request, *args, **kwargs))

        return enter_async

    @wraps(view)
    def enter(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return identity.varied(_refused(request, login_url) or view(request, *args, **kwargs))

    return enter


def _refused(request: Any, login_url: str | None) -> HttpResponseBase | None:
    identification = identity.of(request)
    try:
        found = identification.require()
    except Fault as fault:
        return identity.refused(request, fault, login_url)
    request.user, request.auth, request.auser = found.user, found.caller, identification.auser
    return None
