"""The user who calls a view of the host project: of an access token, or of Django's session.

An access token of ours in the header comes first. Then comes the user of Django's session, which
may carry a session of ours (`django_session`), then the access token in a cookie. In Django admin
only Django's session counts. `CsrfViewMiddleware` protects users of Django's session against forged
requests. Where nothing has checked the request, `Identification` does so if Django's session
carries a session of ours. The request guards protect users of a token cookie.

A browser may have a Django session and token cookies. So a logout ends both sessions, whether it is
Django's or that of the API, and a login of either kind ends the other session if that belongs to
another user.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlencode

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth import REDIRECT_FIELD_NAME, SESSION_KEY
from django.contrib.auth.models import AnonymousUser
from django.contrib.auth.signals import user_logged_in, user_logged_out
from django.contrib.auth.views import redirect_to_login
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import resolve_url
from django.urls import NoReverseMatch, Resolver404, resolve, reverse
from django.utils.cache import patch_vary_headers
from django.utils.functional import cached_property

from authservice.core.api import callers, django_session
from authservice.core.errors import StepUpRequired, StepUpUnavailable
from authservice.core.login import login, step_up
from authservice.core.login.step_up import Need
from authservice.core.sessions import revocation, sessions
from authservice.core.sessions.bearer import Caller
from authservice.core.staff import admin_login
from authservice.kernel import clock, databases, errors
from authservice.kernel.http import incoming
from authservice.kernel.http.envelope import refusal
from authservice.kernel.interfaces import SecondFactor
from authservice.kernel.modules import plugs

Response = TypeVar("Response", bound=HttpResponseBase)

PASSWORD = "pwd"  # noqa: S105 RFC 8176
_KEPT = "_authservice_identity"


@dataclass(frozen=True)
class Identity:
    """`caller` is None for a user of Django's session, unless it carries a session of ours."""

    caller: Caller | None
    django_user: Any = None

    @property
    def user(self) -> Any:
        return self.django_user if self.caller is None else self.caller.person.user


class Identification:
    """Finds the identity when it is first used, at most once for a request.

    A session of ours that Django's session carries is a cookie that browsers send with the requests
    of other sites too. If nothing has checked that the request is not forged, because the view is
    exempt or the project has no such middleware, it counts for a change only with Django's CSRF
    token. This is decided at each access: a middleware may read the identity before
    Django has found the view.
    """

    def __init__(self, request: HttpRequest) -> None:
        self._request = request
        # What Django's middleware has set, before it is replaced.
        self._session_user = getattr(request, "user", None)

    def require(self) -> Identity:
        """The caller. Raises `Unauthorized`, `InvalidToken`, `TokenExpired`, `InvalidCsrf` or
        `ServiceUnavailable`."""
        if isinstance(self._result, errors.Fault):
            raise self._result
        if self._is_forged(self._result):
            raise errors.InvalidCsrf
        return self._result

    @property
    def was_used(self) -> bool:
        """Whether the identity has been read, so that the response may depend on it."""
        return "_result" in self.__dict__

    @property
    def was_forged(self) -> bool:
        """Whether the identity has been read, and the view does not accept it."""
        return self.was_used and self._is_forged(self._result)

    @property
    def carried(self) -> Caller | None:
        """The caller whose session Django's session carries, in a forged request too."""
        caller = None if isinstance(self._result, errors.Fault) else self._result.caller
        return None if caller is None or caller.has_token else caller

    @property
    def user(self) -> Any:
        """The user, or an `AnonymousUser`. Raises `ServiceUnavailable`."""
        identity = self._optional
        return identity.user if identity else AnonymousUser()

    @property
    def caller(self) -> Caller | None:
        """Raises `ServiceUnavailable`."""
        identity = self._optional
        return identity.caller if identity else None

    async def auser(self) -> Any:
        return await sync_to_async(lambda: self.user)()

    @property
    def _optional(self) -> Identity | None:
        if isinstance(self._result, errors.ServiceUnavailable):
            raise self._result
        if isinstance(self._result, errors.Fault) or self._is_forged(self._result):
            return None
        return self._result

    def _is_forged(self, result: Identity | errors.Fault) -> bool:
        if isinstance(result, errors.Fault) or result.caller is None or result.caller.has_token:
            return False
        match = self._request.resolver_match
        if self._request.method in callers.SAFE_METHODS or match is None:
            return False
        if getattr(match.func, callers.REFUSES_FORGED, False):
            return False
        return not (callers.was_checked(self._request) or self._has_django_token)

    @cached_property
    def _has_django_token(self) -> bool:
        return callers.has_django_token(self._request)

    @cached_property
    def _result(self) -> Identity | errors.Fault:
        request, user = self._request, self._session_user
        try:
            ignores_token = callers.has_foreign_token(request) or _is_admin(request)
            by_header = bool(request.META.get("HTTP_AUTHORIZATION")) and not ignores_token
            carried = None if by_header else django_session.find(request)
            if carried is not None:
                carried.require_live()
                self._require_factor(carried)
                carried = django_session.freshen(request, carried)
                carried.require_live()  # reads the rows of another caller with fresh claims
                return Identity(carried)

            if not by_header and user is not None and user.is_authenticated:
                # Only a host project with a protected site of Django admin stores in Django's
                # sessions what `has_ended` compares.
                stores = admin_login.stores_versions(request)
                if not (stores and admin_login.has_ended(request)):
                    return Identity(None, user)

            if ignores_token:
                raise errors.Unauthorized
            return Identity(callers.require_caller(request))
        except errors.Fault as fault:
            return fault

    def _require_factor(self, carried: Caller) -> None:
        """Refuse in Django admin a session of one factor that Django admin's own login would not
        accept: one without a password, and one of a user who has or must have a second factor, such
        as that of a login on a remembered device, which did not ask for it."""
        record = carried.record
        if record.last("aal2") is not None or not _is_admin(self._request):
            return
        if not any(PASSWORD in event.proofs for event in record):
            raise errors.Unauthorized
        for factor in plugs(SecondFactor):
            if factor.is_required(carried.person) or factor.is_enabled(carried.person):
                raise errors.Unauthorized


def refused(request: HttpRequest, fault: errors.Fault, login_url: str | None) -> HttpResponseBase:
    """The answer of a decorated view: the error in its envelope, or a redirect of a visitor to
    `login_url` with the address of the view in `next`. `login_url` is None without a redirect, and
    "" for Django's `LOGIN_URL`."""
    if not may_redirect(request, login_url):
        return refusal(fault)
    if url := step_up_page(request, fault):
        return HttpResponseRedirect(url)
    if fault.status != 401:
        return refusal(fault)
    # Resolved here, not when the view is imported: `LOGIN_URL` may be a `reverse_lazy`.
    target = resolve_url(login_url or settings.LOGIN_URL)
    return redirect_to_login(request.get_full_path(), target)


def step_up_page(request: HttpRequest, fault: errors.Fault) -> str:
    """The address of the page that asks for the proof which this error requires, or says what a
    user without a method of the level can set up. The page leads back to the request. "" for other
    errors, and without `authservice.pages`."""
    if fault.code not in (StepUpRequired.code, StepUpUnavailable.code):
        return ""
    query = {"acr_values": fault.fields["acr_values"], REDIRECT_FIELD_NAME: request.get_full_path()}
    with suppress(NoReverseMatch):
        return f"{reverse('authservice:page-step-up')}?{urlencode(query)}"
    return ""


def may_redirect(request: HttpRequest, login_url: str | None) -> bool:
    """Whether `refused` may redirect. A client that sends a token would take the page of the
    redirect for its answer."""
    return login_url is not None and not request.META.get("HTTP_AUTHORIZATION")


def set_on(request: Any, identified: Identity) -> None:
    """Set `user`, `auth` and `auser` of a request that a decorator lets through, with and without
    the middleware."""

    user = identified.user

    async def auser() -> Any:
        return user

    request.user, request.auth, request.auser = user, identified.caller, auser


def require_proven(identity: Identity, need: Need) -> None:
    """Raises `StepUpRequired` or `StepUpUnavailable` unless the session has this proof, and
    `Unauthorized` for a user whom another package logged in: there is no session of ours."""
    if identity.caller is None:
        raise errors.Unauthorized
    with clock.unit(identity.caller.reading):
        identity.caller.require_live()
        step_up.require(identity.caller.person, identity.caller.record, need)


def of(request: HttpRequest) -> Identification:
    """The identification of this request, which the middleware and decorators share."""
    identification: Identification | None = getattr(request, _KEPT, None)
    if identification is None:
        identification = Identification(request)
        setattr(request, _KEPT, identification)
    return identification


# The first import of this module connects the receivers. A project that uses neither the middleware
# nor a decorator does not need them: none of its views accepts both sessions.
@receiver(user_logged_in, dispatch_uid="authservice_leave_other_user")
def _leave_other_user(request: Any, user: Any, **_: Any) -> None:
    """End the other session of the browser if it belongs to another user."""
    if not _may_have_both(request):
        return
    key = _key_in_session(request)
    if key == django_session.key_of(user):  # stored by Django's login before it sends the signal
        # A login of the API has locked the row of its user by now. That of another user is locked
        # after the commit.
        databases.after_commit(partial(_end_session_of_cookies, request, unless=user))
    elif key:
        if carried := django_session.session_id(request):
            client = incoming.of_page(request)
            databases.after_commit(partial(revocation.end_carried, carried, client))
        request.session.flush()


@receiver(user_logged_in, dispatch_uid="authservice_adopt")
@clock.once
def _adopt(request: Any, user: Any, **_: Any) -> None:
    """Begin a session of ours for a user whom a package logged in with the back end that it found
    in Django's session (`SessionBackend`). The session of the previous user ends."""
    has_session = isinstance(request, HttpRequest) and hasattr(request, "session")
    if not has_session or not django_session.lacks_ours(request, user):
        return
    before = of(request)
    if before.was_used and before.carried:
        sessions.end(before.carried.session_id, sessions.LOGOUT)
    issued = login.by_project(user, incoming.of_page(request))
    if issued:
        django_session.renew(request, issued.access_token)


@receiver(user_logged_out, dispatch_uid="authservice_leave")
def _leave(request: Any, user: Any, **_: Any) -> None:
    if not _may_have_both(request):
        return
    carried = django_session.session_id(request)
    if user is not None and _key_in_session(request) == django_session.key_of(user):
        request.session.flush()
    if carried:  # nothing happens if this is the logout of that very session: it has ended
        revocation.end_carried(carried, incoming.of_page(request))
    _end_session_of_cookies(request)


def _may_have_both(request: Any) -> bool:
    # A login by code of the project may have no request, or pass something like one.
    if not isinstance(request, HttpRequest):
        return False
    carried = hasattr(request, "session") and django_session.session_id(request)
    return callers.accepts_cookies() or bool(carried)


def _end_session_of_cookies(request: HttpRequest, *, unless: Any = None) -> None:
    """Log out the session of the token cookies, unless it belongs to the user `unless`."""
    caller = callers.live_caller(request) if callers.by_cookie(request) else None
    # There is no caller if this is the logout of that very session.
    if caller is not None and (unless is None or caller.person.user.pk != unless.pk):
        with suppress(errors.InvalidToken):
            revocation.log_out(caller.person, caller.session, incoming.of_page(request))


def _key_in_session(request: HttpRequest) -> str:
    """The primary key of the user of Django's session, or ""."""
    return str(request.session.get(SESSION_KEY, "")) if hasattr(request, "session") else ""


def _is_admin(request: HttpRequest) -> bool:
    """Whether the view is one of Django admin. An access token does not count there: the login of
    Django admin always asks for the second factor, and that of the API not on a remembered
    device."""
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
