"""Permissions for REST views of the host project; use them with `AuthserviceAuthentication`.

permission_classes = [IsEmailVerified, SignedInWithin(minutes=10)]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from authservice.core.errors import EmailNotVerified, StepUpRequired
from authservice.core.login import step_up
from authservice.core.login.step_up import Need
from authservice.core.sessions.bearer import Caller
from authservice.kernel import clock, errors
from authservice.kernel.http.incoming import CHALLENGE, client, request_id
from authservice.kernel.levels import OWN, Level

if TYPE_CHECKING:
    # `rest_framework.views` imports the classes of `DEFAULT_PERMISSION_CLASSES` while it is being
    # loaded, and these may be classes of this module.
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
            # With any value of `STATELESS.CHECK`: after a logout, permissions refuse the request.
            request.auth.require_live()
            return self.allows(request.auth, request)
        except errors.Fault as fault:
            self._refuse_with(fault)
            if fault.status == errors.InvalidToken.status:
                # REST framework asks `AuthserviceAuthentication` for the header of a 401.
                request._request.__dict__[CHALLENGE] = fault.headers.get("WWW-Authenticate")
                raise AuthenticationFailed(self.message, code=fault.code) from fault
            return False

    def _refuse_with(self, fault: errors.Fault) -> None:
        self.message = {"detail": fault.text, "code": fault.code, **fault.fields}
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
        return caller.record.last("aal2") is not None


class _SignedInRecently(_CallerPermission):
    fault = errors.ReauthenticationRequired
    seconds: ClassVar[float]

    def allows(self, caller: Caller, request: Request) -> bool:
        # A refresh does not change the record, so refreshed tokens do not prolong the time. The
        # proof of a factor that was removed is gone from it. A session that did not begin with a
        # login has none. `reading.at` is the time of this request (see `kernel.clock`).
        proof = caller.record.strongest
        return proof is not None and caller.reading.at.timestamp() - proof.at.timestamp() <= (
            self.seconds
        )


class _Proven(_CallerPermission):
    fault = StepUpRequired
    need: ClassVar[Need]

    def allows(self, caller: Caller, request: Request) -> bool:
        # Compare the age of the proof with the time at which the token was checked.
        with clock.unit(caller.reading):
            step_up.require(caller.person, caller.record, self.need)
        return True


def Proven(  # noqa: N802 it makes a class
    acr: Level | Literal["own"] = OWN, max_age: float | None = 600
) -> type[BasePermission]:
    """The permission of users who proved the level `acr` within the last `max_age` seconds, or in
    this session at all if it is None. `acr` is `aal1`, `aal2`, `phr`, `phrh`, or `own`: two factors
    of a user who has a second one, otherwise any proof.

    A refusal is 401 `STEP_UP_REQUIRED`, or 403 `STEP_UP_UNAVAILABLE` for a user who has no method
    of that level. Raises `ValueError` for another level or age.
    """
    return type("Proven", (_Proven,), {"need": step_up.need_of(acr, max_age)})


def SignedInWithin(*, minutes: float) -> type[BasePermission]:  # noqa: N802 it makes a class
    """The permission of users who logged in to this session within the last `minutes`. Raises
    `ValueError` unless they are positive."""
    if minutes <= 0:
        raise ValueError("The minutes must be positive.")
    return type("SignedInWithin", (_SignedInRecently,), {"seconds": minutes * 60})
