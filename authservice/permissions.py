"""Permissions for REST views of the host project; use them with `AuthserviceAuthentication`.

permission_classes = [IsEmailVerified, SignedInWithin(minutes=10)]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from authservice.core.errors import EmailNotVerified
from authservice.core.sessions.bearer import Caller
from authservice.core.sessions.sessions import LEGACY
from authservice.kernel import errors
from authservice.kernel.http.request_client import client, request_id
from authservice.kernel.interfaces import MFA

if TYPE_CHECKING:
    # Its module imports the classes of `DEFAULT_PERMISSION_CLASSES` while it is being loaded.
    from rest_framework.views import APIView


class _CallerPermission(BasePermission):
    """A permission that depends on the access token or its user. It refuses users of another
    authentication class, who have no access token of ours."""

    fault: ClassVar[type[errors.Fault]] = errors.Forbidden

    def has_permission(self, request: Request, view: APIView) -> bool:
        self._refuse_with(self.fault())
        if not isinstance(request.auth, Caller):
            return False
        try:
            # Whatever `STATELESS.CHECK` says: what needs a permission is refused after a logout.
            request.auth.require_live()
            return self.allows(request.auth, request)
        except errors.Fault as fault:
            self._refuse_with(fault)
            if fault.status == errors.InvalidToken.status:
                raise AuthenticationFailed(self.message, code=fault.code) from fault
            return False

    def _refuse_with(self, fault: errors.Fault) -> None:
        self.message = {"detail": fault.text, "code": fault.code}
        self.code = fault.code

    def allows(self, caller: Caller, request: Request) -> bool:
        """May raise the `Fault` of the refusal."""
        raise NotImplementedError


class IsEmailVerified(_CallerPermission):
    """The address of the user is verified."""

    fault = EmailNotVerified

    def allows(self, caller: Caller, request: Request) -> bool:
        return caller.person.email_verified


class IsSuperAdmin(_CallerPermission):
    """The user is a super admin, as for the routes of the service for super admins. Refusals are
    recorded as `security.forbidden`."""

    def allows(self, caller: Caller, request: Request) -> bool:
        http = request._request
        caller.require_super_admin(client(http, request_id(http)))
        return True


class UsedSecondFactor(_CallerPermission):
    """The user logged in to this session with a second factor."""

    fault = errors.ReauthenticationRequired

    def allows(self, caller: Caller, request: Request) -> bool:
        return MFA in caller.claims["amr"]


class _SignedInRecently(_CallerPermission):
    fault = errors.ReauthenticationRequired
    seconds: ClassVar[float]

    def allows(self, caller: Caller, request: Request) -> bool:
        if LEGACY in caller.claims["amr"]:
            return False  # this session did not begin with a login
        # A refresh does not change this claim, so refreshed tokens do not prolong the time.
        return bool(caller.reading.at.timestamp() - caller.claims["auth_time"] <= self.seconds)


def SignedInWithin(*, minutes: float) -> type[BasePermission]:  # noqa: N802 it makes a class
    """The permission of users who logged in to this session within the last `minutes`. Raises
    `ValueError` unless they are positive."""
    if minutes <= 0:
        raise ValueError("The minutes must be positive.")
    return type("SignedInWithin", (_SignedInRecently,), {"seconds": minutes * 60})
