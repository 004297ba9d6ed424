"""`request.user` for every view of the host project, by an access token too.

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


@sync_and_async_middleware
def AuthserviceMiddleware(get_response: Handler) -> Handler:  # noqa: N802 named as Django's own
    """Sets `request.user`, `request.auser` and `request.auth`, which are read when they are used.

    `request.auth` has the `claims` and the `session` of the access token; it is false for a user of
    Django's session and without a user. An async view uses `await request.auser()`. If one of them
    was read, the response has a `Vary` header for caches.
    """

    def set_up(request: Any) -> None:
        found = identity.of(request)
        request.user = SimpleLazyObject(lambda: found.user)
        request.auth = SimpleLazyObject(lambda: found.caller)
        request.auser = found.auser

    def finish(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        return identity.varied(response) if identity.of(request).was_used else response

    if iscoroutinefunction(get_response):

        async def handle_async(request: HttpRequest) -> HttpResponseBase:
            set_up(request)
            awaited: Awaitable[HttpResponseBase] = get_response(request)
            return finish(request, await awaited)

        return handle_async

    def handle(request: HttpRequest) -> HttpResponseBase:
        set_up(request)
        return finish(request, get_response(request))

    return handle
