"""For REST views of the host project: `authentication_classes = [AuthserviceAuthentication]`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import APIException, AuthenticationFailed, PermissionDenied
from rest_framework.request import Request

from authservice.kernel import errors
from authservice.kernel.http.incoming import CHALLENGE

if TYPE_CHECKING:
    from authservice.core.sessions.bearer import Caller


class Unavailable(APIException):
    """The caller cannot be verified at the moment. Not 401, so that clients keep their tokens."""

    status_code = errors.ServiceUnavailable.status
    wait = int(errors.ServiceUnavailable.headers["Retry-After"])


class AuthserviceAuthentication(BaseAuthentication):
    """Sets `request.user` to the host project's user and `request.auth` to the caller, which has
    `claims` and `session`.

    Without a token, the caller may be a user who signed in on the pages of this service: Django's
    session then carries a session of ours. If that session or a token cookie identifies the caller,
    a state-changing request must have a CSRF token, as with the framework's own
    `SessionAuthentication`. A bearer token of another issuer is left to the next authentication
    class. Raises `AuthenticationFailed`, `PermissionDenied` and `Unavailable`, with our error code
    in `code` of the response.
    """

    def authenticate(self, request: Request) -> tuple[Any, Caller] | None:
        # Not imported at the top: the REST framework loads the classes in its settings together
        # with its views, and a project may import those views in the module of its user model. Core
        # needs that model.
        from authservice.core.api import callers, django_session

        http = request._request
        # Caches learn that the response depends on the caller. The view of the framework adds its
        # `headers` to whatever it answers, errors included.
        headers = getattr(request.parser_context.get("view"), "headers", None)
        if headers is not None:
            names = (headers.get("Vary"), "Authorization", "Cookie")
            headers["Vary"] = ", ".join(filter(None, names))
        if callers.has_foreign_token(http):
            return None
        if not http.META.get("HTTP_AUTHORIZATION") and (carried := django_session.find(http)):
            # The framework exempts its views from Django's own check.
            unforged = http.method in callers.SAFE_METHODS or callers.has_django_token(http)
            return _carried(carried, unforged)
        try:
            caller = callers.identify(http)
            if http.method not in callers.SAFE_METHODS:
                # Whatever `STATELESS.CHECK` says: an ended session must not change anything.
                caller.require_live()
            user = caller.person.user
        except errors.Unauthorized:
            return None  # no access token: another authentication class may identify the caller
        except errors.ServiceUnavailable as fault:
            raise Unavailable(_detail(fault), code=fault.code) from fault
        except errors.Fault as fault:
            if callers.by_cookie(http):
                return None  # browsers keep sending a cookie whose token is no longer valid
            raise AuthenticationFailed(_detail(fault), code=fault.code) from fault
        if callers.by_cookie(http) and http.method not in callers.SAFE_METHODS:
            try:
                callers.require_unforged(http, caller.session_id)
            except errors.Fault as fault:
                raise PermissionDenied(_detail(fault), code=fault.code) from fault
        return user, caller

    def authenticate_header(self, request: Request) -> str:
        # A class of `authservice.permissions` stores the challenge of its refusal there.
        return request._request.__dict__.get(CHALLENGE) or "Bearer"


def _carried(caller: Caller, unforged: bool) -> tuple[Any, Caller] | None:
    """The user whose session Django's session carries, if that is valid. Raises as
    `authenticate`."""
    try:
        caller.require_live()
    except errors.ServiceUnavailable as fault:
        raise Unavailable(_detail(fault), code=fault.code) from fault
    except errors.Fault:
        return None  # browsers keep sending the cookie of a session that has ended
    if not unforged:
        raise PermissionDenied(_detail(errors.InvalidCsrf()), code=errors.InvalidCsrf.code)
    return caller.person.user, caller


def _detail(fault: errors.Fault) -> Any:
    return {"detail": fault.text, "code": fault.code}
