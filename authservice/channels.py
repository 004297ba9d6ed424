"""The user of a WebSocket of the host project, for consumers of Django Channels.

    user = await get_user(self.scope)

Channels itself is not imported: the scope is that of ASGI.
"""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any

from asgiref.sync import sync_to_async
from django.contrib.auth.models import AnonymousUser
from django.core.handlers.asgi import ASGIRequest
from django.db import connections

from authservice.core.api import callers, django_session
from authservice.kernel import errors
from authservice.kernel.http import incoming

_SCHEMES = {"ws": "http", "wss": "https"}


async def get_user(scope: Mapping[str, Any]) -> Any:
    """The user of the access token that the client sent when it connected, or an `AnonymousUser`.
    With the session middleware of Channels, also a user who signed in on the pages.

    Each call takes one SQL statement and checks whether the session is still valid, so a consumer
    that calls it for each message refuses an ended session. Browsers let any page open a WebSocket
    with the cookies of another site, so a cookie counts only if the origin is that of the service
    or trusted. Raises `ServiceUnavailable`.
    """
    return await sync_to_async(_user)(scope)


def _user(scope: Mapping[str, Any]) -> Any:
    # Django closes unusable and outdated connections when a request ends. A WebSocket has no such
    # moment. In a
    # transaction, as in a test, Django would close even a usable one.
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close_if_unusable_or_obsolete()
    handshake = {
        **scope,
        "type": "http",
        "method": "GET",
        "scheme": _SCHEMES.get(scope.get("scheme", "ws"), "http"),
    }
    request = ASGIRequest(handshake, BytesIO())
    request.session = scope.get("session", {})
    carried = None if callers.has_bearer(request) else django_session.find(request)
    by_cookie = carried is not None or callers.by_cookie(request)
    origin = request.headers.get("Origin", "")
    if by_cookie and not incoming.is_trusted(origin, request):
        return AnonymousUser()
    try:
        if carried is None:
            return callers.require_caller(request).person.user
        carried.require_live()
        return carried.person.user
    except errors.ServiceUnavailable:
        raise
    except errors.Fault:
        return AnonymousUser()
