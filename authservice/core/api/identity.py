"""Who calls a view of the host project: the user of Django's session, or of an access token.

An access token of ours in the header comes first. Then comes the user of Django's session, whom
Django's own protection against forged requests covers, and then the access token in a cookie.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from asgiref.sync import sync_to_async
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.utils.functional import cached_property

from authservice.core.api import authentication
from authservice.core.sessions.authentication import Caller
from authservice.kernel import errors

_KEPT = "_authservice_identity"


@dataclass(frozen=True)
class Identity:
    """`caller` is None for a user of Django's session."""

    user: Any
    caller: Caller | None


class Identification:
    """Finds the identity when it is first used, at most once for a request."""

    def __init__(self, request: HttpRequest) -> None:
        self._request = request
        # What Django's middleware has set, before it is replaced.
        self._session_user = getattr(request, "user", None)

    def require(self) -> Identity:
        """Raises `Unauthorized`, `InvalidToken`, `TokenExpired`, `InvalidCsrf` or
        `ServiceUnavailable`."""
        if isinstance(self._found, errors.Fault):
            raise self._found
        return self._found

    @property
    def user(self) -> Any:
        """The user, or an `AnonymousUser`. Raises `ServiceUnavailable`."""
        found = self._optional
        return found.user if found else AnonymousUser()

    @property
    def caller(self) -> Caller | None:
        """Raises `ServiceUnavailable`."""
        found = self._optional
        return found.caller if found else None

    async def auser(self) -> Any:
        return await sync_to_async(lambda: self.user)()

    @property
    def _optional(self) -> Identity | None:
        if isinstance(self._found, errors.ServiceUnavailable):
            raise self._found
        return None if isinstance(self._found, errors.Fault) else self._found

    @cached_property
    def _found(self) -> Identity | errors.Fault:
        try:
            return self._identify()
        except errors.Fault as fault:
            return fault

    def _identify(self) -> Identity:
        foreign = authentication.has_foreign_token(self._request)
        by_header = bool(self._request.META.get("HTTP_AUTHORIZATION")) and not foreign
        user = self._session_user
        if not by_header and user is not None and user.is_authenticated:
            return Identity(user, None)
        if foreign:
            raise errors.Unauthorized
        caller = authentication.require_caller(self._request)
        return Identity(caller.person.user, caller)


def of(request: HttpRequest) -> Identification:
    """The identification of this request; the same for the middleware and for decorators."""
    found: Identification | None = getattr(request, _KEPT, None)
    if found is None:
        found = Identification(request)
        setattr(request, _KEPT, found)
    return found
