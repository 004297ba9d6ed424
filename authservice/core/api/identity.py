"""The user who calls a view of the host project: of an access token, or of Django's session.

An access token of ours in the header comes first. Then comes the user of Django's session, whose
session may be one of ours (`django_session`), then the access token in a cookie. In Django admin
only Django's session counts. `CsrfViewMiddleware` protects users of Django's session against forged
requests, unless the view is exempt from it. The request guards protect those of a token cookie.

A browser may have both. So a logout ends both, whether it is Django's or that of the API, and a
login of either kind ends the other session if that is of another user.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import AnonymousUser
from django.contrib.auth.signals import user_logged_in, user_logged_out
from django.contrib.auth.views import redirect_to_login
from django.db import transaction
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import resolve_url
from django.urls import Resolver404, resolve
from django.utils.cache import patch_vary_headers
from django.utils.functional import cached_property

from authservice.core.api import callers, django_session
from authservice.core.login import login
from authservice.core.sessions import revocation, sessions
from authservice.core.sessions.bearer import Caller
from authservice.core.staff import admin_login
from authservice.kernel import clock, databases, errors
from authservice.kernel.http import request_client
from authservice.kernel.http.envelope import refusal
from authservice.kernel.interfaces import MFA, SecondFactor
from authservice.kernel.modules import plugs

Response = TypeVar("Response", bound=HttpResponseBase)

PASSWORD = "pwd"  # noqa: S105 RFC 8176
_KEPT = "_authservice_identity"


@dataclass(frozen=True)
class Identity:
    """`caller` is None for a user of Django's session, unless it carries a session of ours."""

    user: Any
    caller: Caller | None


class Identification:
    """Finds the identity when it is first used, at most once for a request."""

    def __init__(self, request: HttpRequest) -> None:
        self._request = request
        # What Django's middleware has set, before it is replaced.
        self._session_user = getattr(request, "user", None)

    def require(self) -> Identity:
        """The caller. Raises `Unauthorized`, `InvalidToken`, `TokenExpired`, `InvalidCsrf` or
        `ServiceUnavailable`."""
        if isinstance(self._found, errors.Fault):
            raise self._found
        return self._found

    @property
    def was_used(self) -> bool:
        """Whether the identity has been read, so that the response may depend on it."""
        return "_found" in self.__dict__

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
        ignored = callers.has_foreign_token(self._request) or _is_admin(self._request)
        by_header = bool(self._request.META.get("HTTP_AUTHORIZATION")) and not ignored
        carried = None if by_header else django_session.find(self._request)
        if carried is not None:
            carried.require_live()
            self._require_factor(carried)
            carried = django_session.freshen(self._request, carried)
            return Identity(carried.person.user, carried)
        user = self._session_user
        if not by_header and user is not None and user.is_authenticated and self._is_open():
            return Identity(user, None)
        if ignored:
            raise errors.Unauthorized
        caller = callers.require_caller(self._request)
        return Identity(caller.person.user, caller)

    def _require_factor(self, carried: Caller) -> None:
        """Refuse in Django admin what its own login would not accept: a login without a password,
        and one that no second factor was asked for, such as that of a remembered device, of a user
        who has one or must have one."""
        proofs = carried.claims["amr"]
        if MFA in proofs or not _is_admin(self._request):
            return
        if PASSWORD not in proofs:
            raise errors.Unauthorized
        for factor in plugs(SecondFactor):
            if factor.is_required(carried.person) or factor.is_enabled(carried.person):
                raise errors.Unauthorized

    def _is_open(self) -> bool:
        """Whether Django's session has not ended. Only a host project with a protected site of
        Django admin stores in its sessions what this check needs."""
        request = self._request
        return not admin_login.stores_versions(request) or not admin_login.has_ended(request)


def refused(request: HttpRequest, fault: errors.Fault, login_url: str | None) -> HttpResponseBase:
    """The answer of a decorated view: the error in its envelope, or a redirect of a visitor to
    `login_url` with the address of the view in `next`. `login_url` is None without a redirect, and
    "" for Django's `LOGIN_URL`."""
    # A client that sends a token would take the page of the redirect for its answer.
    is_page = login_url is not None and not request.META.get("HTTP_AUTHORIZATION")
    if not is_page or fault.status != 401:
        return refusal(fault)
    # Resolved here, not when the view is imported: `LOGIN_URL` may be a `reverse_lazy`.
    target = resolve_url(login_url or settings.LOGIN_URL)
    return redirect_to_login(request.get_full_path(), target)


def of(request: HttpRequest) -> Identification:
    """The identification of this request; the same for the middleware and for decorators."""
    found: Identification | None = getattr(request, _KEPT, None)
    if found is None:
        found = Identification(request)
        setattr(request, _KEPT, found)
    return found


# Connected with the first import: a project that uses neither the middleware nor a decorator has no
# view to which both sessions count.
@receiver(user_logged_in, dispatch_uid="authservice_leave_other_user")
def _leave_other_user(request: Any, user: Any, **_: Any) -> None:
    if not _may_have_both(request):
        return
    key = _key_in_session(request)
    if key == django_session.key_of(user):  # stored by Django's login before it sends the signal
        # A login of the API has locked its user by now. The row of another one is locked after it.
        end = partial(_end_session_of_cookies, request, unless=user)
        transaction.on_commit(end, using=databases.primary(), robust=True)
    elif key:
        if carried := django_session.session_id(request):
            end = partial(revocation.end_carried, carried, request_client.of_page(request))
            transaction.on_commit(end, using=databases.primary(), robust=True)
        request.session.flush()


@receiver(user_logged_in, dispatch_uid="authservice_adopt")
@clock.once
def _adopt(request: Any, user: Any, **_: Any) -> None:
    """Begin a session of ours for a user whom a package logged in with the back end that it found
    in Django's session, in place of the session of the user before."""
    has_session = isinstance(request, HttpRequest) and hasattr(request, "session")
    if not has_session or not django_session.lacks_ours(request, user):
        return
    before = of(request)
    if before.was_used and before.caller and not before.caller.has_token:
        sessions.end(before.caller.session_id, sessions.LOGOUT)
    issued = login.by_project(user, request_client.of_page(request))
    if issued:
        django_session.renew(request, issued.access_token)


@receiver(user_logged_out, dispatch_uid="authservice_leave")
def _leave(request: Any, user: Any, **_: Any) -> None:
    if not _may_have_both(request):
        return
    carried = django_session.session_id(request)
    if user is not None and _key_in_session(request) == django_session.key_of(user):
        request.session.flush()
    if carried:  # unless this is the logout of that very session
        revocation.end_carried(carried, request_client.of_page(request))
    _end_session_of_cookies(request)


def _may_have_both(request: Any) -> bool:
    # A login by code of the project may have no request, or pass something like one.
    if not isinstance(request, HttpRequest):
        return False
    carried = hasattr(request, "session") and django_session.session_id(request)
    return callers.accepts_cookies() or bool(carried)


def _end_session_of_cookies(request: HttpRequest, *, unless: Any = None) -> None:
    """Log the session of the token cookies out, unless it is of this user."""
    caller = callers.live_caller(request) if callers.by_cookie(request) else None
    # There is none if this is the logout of that very session.
    if caller is not None and (unless is None or caller.person.user.pk != unless.pk):
        with suppress(errors.InvalidToken):
            revocation.log_out(caller.person, caller.session, request_client.of_page(request))


def _key_in_session(request: HttpRequest) -> str:
    """The key of the user of Django's session, "" without one."""
    return str(request.session.get(SESSION_KEY, "")) if hasattr(request, "session") else ""


def _is_admin(request: HttpRequest) -> bool:
    """Whether the view is one of Django admin. An access token does not count there: the login of
    Django admin always asks for the second factor, that of the API not on a remembered device."""
    match = request.resolver_match
    if match is None:  # a middleware asks before Django has found the view
        try:
            match = resolve(request.path_info, getattr(request, "urlconf", None))
        except Resolver404:
            return False
    return "admin" in match.app_names


def varied(response: Response) -> Response:
    """Tell caches that the response depends on the caller, as Django's session middleware does.
    Otherwise the per-site cache would give the page of one user to the next."""
    if isinstance(response, HttpResponseBase):  # otherwise Django says what the view did wrong
        patch_vary_headers(response, ("Authorization", "Cookie"))
    return response
