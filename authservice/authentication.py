"""For a host's own REST views: `authentication_classes = [AuthserviceAuthentication]`."""

from __future__ import annotations

from typing import Any

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from authservice.kernel import errors
from authservice.kernel.http.authentication import identify


class AuthserviceAuthentication(BaseAuthentication):
    """`request.user` is the host's user, `request.auth` has `claims` and `sign_in`."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        try:
            identity = identify(request._request)
            user = identity.person.user
        except errors.Unauthorized:
            return None  # no bearer token: another class may know the caller
        except errors.Fault as fault:
            raise AuthenticationFailed(fault.message, code=fault.code) from fault
        return user, identity

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"
