"""For views of the host project without the REST framework, plain or async.

    @login_required
    def invoices(request): ...

    @login_required(redirect=True)
    async def account_page(request): ...

Both decorators work with `AuthserviceMiddleware` and without it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Literal, TypeVar, cast, overload

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.http import HttpRequest, HttpResponseBase

from authservice.core.api import identity
from authservice.core.login import step_up
from authservice.core.login.step_up import Need
from authservice.kernel.errors import Fault
from authservice.kernel.levels import OWN, Level

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
    A request with an `Authorization` header is not redirected, and a forged request is refused with
    403 in any case.
    """

    leads_to = login_url if redirect or login_url else None

    def guard(view: View) -> View:
        return cast(View, _guarded(view, leads_to))

    return guard(view) if view else guard


def proven(
    acr: Level | Literal["own"] = OWN,
    max_age: float | None = 600,
    *,
    redirect: bool = False,
    login_url: str = "",
) -> Callable[[View], View]:
    """Only users reach the view who proved the level `acr` within the last `max_age` seconds; see
    `authservice.permissions.Proven`. It includes `login_required`, with the same parameters.

    With `redirect` or `login_url`, a browser that is not signed in is led to the login. A
    browser whose proof is missing or too old is led to the page that asks for the proof, if
    `authservice.pages` is installed. Raises `ValueError` for another level or age.
    """
    need = step_up.need_of(acr, max_age)
    leads_to = login_url if redirect or login_url else None

    def guard(view: View) -> View:
        return cast(View, _guarded(view, leads_to, need))

    return guard


def _guarded(view: Any, login_url: str | None, need: Need | None = None) -> Any:
    """The view, plain or async, which refuses requests without a user, or without the proof that it
    needs. Without a `login_url` (None) they get an error, otherwise a redirect; "" means Django's
    `LOGIN_URL`."""
    if iscoroutinefunction(view):

        @wraps(view)
        async def enter_async(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            refusal = await sync_to_async(_refused)(request, login_url, need)
            return identity.varied(refusal or await view(request, *args, **kwargs))

        return enter_async

    @wraps(view)
    def enter(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return identity.varied(_refused(request, login_url, need) or view(request, *args, **kwargs))

    return enter


def _refused(request: Any, login_url: str | None, need: Need | None) -> HttpResponseBase | None:
    """The response that refuses the request; None if it may reach the view."""
    try:
        identified = identity.of(request).require()
        if need is not None:
            identity.require_proven(identified, need)
    except Fault as fault:
        return identity.refused(request, fault, login_url)
    identity.set_on(request, identified)
    return None
