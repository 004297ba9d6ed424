"""`request.organization` for every view of the host project, read when it is used."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import sync_and_async_middleware
from django.utils.functional import SimpleLazyObject

from authservice.organization import requests
from authservice.organization.models import Organization

Handler = Callable[[HttpRequest], Any]


@sync_and_async_middleware
def OrganizationMiddleware(get_response: Handler) -> Handler:  # noqa: N802 named as Django's own
    """Sets `request.organization`, lazily: the active organization, or an object that is false. An
    async view uses `await request.aorganization()`, which returns None without one."""

    def set_up(request: Any) -> None:
        request.organization = SimpleLazyObject(lambda: _organization_of(request))
        request.aorganization = lambda: sync_to_async(_organization_of)(request)

    if iscoroutinefunction(get_response):

        async def handle_async(request: HttpRequest) -> HttpResponseBase:
            set_up(request)
            awaited: Awaitable[HttpResponseBase] = get_response(request)
            return requests.varied_if_read(request, await awaited)

        # By now Django has found the view, which decides whether a request needs a CSRF token.
        async def process_view_async(request: HttpRequest, *_: Any) -> None:
            requests.forget_forged(request)

        handle_async.process_view = process_view_async  # type: ignore[attr-defined]
        return handle_async

    def handle(request: HttpRequest) -> HttpResponseBase:
        set_up(request)
        return requests.varied_if_read(request, get_response(request))

    handle.process_view = lambda request, *_: requests.forget_forged(request)  # type: ignore[attr-defined]
    return handle


def _organization_of(request: HttpRequest) -> Organization | None:
    membership = requests.find(request)
    return membership.organization if membership else None
