"""For REST views of the host project: `authentication_classes = [AuthserviceAuthentication]`."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import APIException, AuthenticationFailed, PermissionDenied
from rest_framework.request import Request

from authservice.kernel import errors
from authservice.kernel.http.authentication import (
    SAFE_METHODS,
    by_cookie,
    identify,
    require_unforged,
)


class Unavailable(APIException):
    """The caller cannot be verified at the moment. Not 401, so that clients keep their tokens."""

    status_code = errors.ServiceUnavailable.status
    wait = int(errors.ServiceUnavailable.headers["Retry-After"])


class AuthserviceAuthentication(BaseAuthentication):
    """Sets `request.user` to the host project's user and `request.auth` to the caller, which has
    `claims` and `session`.

    If a token cookie identifies the caller, a state-changing request must have a CSRF token, as
    with the framework's own `SessionAuthentication`. Raises `AuthenticationFailed`,
    `PermissionDenied` and `Unavailable`, with our error code.
    """

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        http = request._request
        try:
            identity = identify(http)
            user = identity.person.user
        except errors.Unauthorized:
            return None  # no access token: another authentication class may identify the caller
        except errors.ServiceUnavailable as fault:
            raise Unavailable(fault.message, code=fault.code) from fault
        except errors.Fault as fault:
            if by_cookie(http):
                return None  # browsers keep sending a cookie whose token is no longer valid
            raise AuthenticationFailed(fault.message, code=fault.code) from fault
        if by_cookie(http) and http.method not in SAFE_METHODS:
            self._require_unforged(http, identity)
        return user, identity

    def _require_unforged(self, http: HttpRequest, identity: Any) -> None:
        try:
            require_unforged(http, identity.sign_in_id)
        except errors.Fault as fault:
            raise PermissionDenied(fault.message, code=fault.code) from fault

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"
