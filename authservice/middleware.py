"""`request.user` for every view of the host project, also from an access token.

Add `authservice.middleware.AuthserviceMiddleware` to `MIDDLEWARE`, after Django's
`AuthenticationMiddleware` if that is there, and before `LoginRequiredMiddleware`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import sync_and_async_middleware
from django.utils.functional import SimpleLazyObject

from authservice.core.api import identity

Handler = Callable[[HttpRequest], Any]


class _Lazy(SimpleLazyObject):  # type: ignore[type-arg]
    """Marks the values that this middleware has set."""


@sync_and_async_middleware
def AuthserviceMiddleware(get_response: Handler) -> Handler:  # noqa: N802 named as Django's own
    """Sets `request.user`, `request.auser` and `request.auth`, whose values are read on first use.

    `request.auth` has the `claims` and the `session` of the access token; it is false for a user of
    Django's session and without a user, and for a change by a user of the pages that nothing
    has checked for forgery and that has no CSRF token of Django. An async view uses
    `await request.auser()`. If one of them was read, the response has a `Vary` header for caches.
    """

    def set_up(request: Any) -> None:
        lazy_identity = identity.of(request)
        request.user = _Lazy(lambda: lazy_identity.user)
        request.auth = _Lazy(lambda: lazy_identity.caller)
        request.auser = lazy_identity.auser

    def forget_forged(request: Any) -> None:
        """Drop the user and the caller that another middleware read before Django found the view,
        if the view refuses them as forged. A value that another middleware has set itself stays."""
        lazy_identity = identity.of(request)
        if not lazy_identity.was_forged:
            return
        if type(request.user) is _Lazy:
            request.user = _Lazy(lambda: lazy_identity.user)
        if type(request.auth) is _Lazy:
            request.auth = _Lazy(lambda: lazy_identity.caller)

    def finish(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        return identity.varied(response) if identity.of(request).was_used else response

    if iscoroutinefunction(get_response):

        async def handle_async(request: HttpRequest) -> HttpResponseBase:
            set_up(request)
            awaited: Awaitable[HttpResponseBase] = get_response(request)
            return finish(request, await awaited)

        async def process_view_async(request: HttpRequest, *_: Any) -> None:
            forget_forged(request)

        handle_async.process_view = process_view_async  # type: ignore[attr-defined]
        return handle_async

    def handle(request: HttpRequest) -> HttpResponseBase:
        set_up(request)
        return finish(request, get_response(request))

    handle.process_view = lambda request, *_: forget_forged(request)  # type: ignore[attr-defined]
    return handle
