"""Identify the caller by the bearer token in the header (RFC 6750 section 2.1) or, if the host
project enabled token cookies, in the cookie.

Browsers send cookies with every request, also with those that pages of other sites make. So token
cookies are used only if a guard against forged requests is installed (the csrf module), regardless
of the settings.

If the user of an account proves its address, nothing that was set up before is removed
(`core/recovery/first_proof.py`). That user may be one of the pages too, whose session of ours
Django's session carries: `signed_in_user`. Threats: an attacker who makes the browser of a victim
open a link to an account of the attacker gains nothing, because the user and the account differ.
The intruder whose access the first proof of the owner removes has a session of the account too. A
page of the intruder on a sibling host can plant its cookie in the browser in which the owner opens
the mail, since the name of Django's cookie does not bind it to this host. So the browser must also
have the device cookie of a login to the account. This user is only compared with the owner of an
account: no session continues by it, and no route that requires a user accepts it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import CsrfViewMiddleware

from authservice.core.api import django_session
from authservice.core.credentials import lockout
from authservice.core.sessions import bearer
from authservice.core.sessions.bearer import Caller
from authservice.core.tokens import signing
from authservice.core.users.person import Person
from authservice.kernel import errors
from authservice.kernel.client import DeviceToken
from authservice.kernel.http import envelope, incoming, pages
from authservice.kernel.http.incoming import DEVICE_COOKIE
from authservice.kernel.interfaces import RequestGuard
from authservice.kernel.languages import phrase
from authservice.kernel.modules import plugs
from authservice.kernel.secret import Secret
from authservice.kernel.sections import cookies as token_cookies

# Set by `call_as`: the caller of a request that a page of this service makes; None is nobody.
_KNOWN = "_authservice_caller"
# Set by `ignore_cookie`.
_IGNORED = "_authservice_cookie_ignored"
# The attribute of the views of this service, which are exempt from Django's check because they
# refuse forged requests themselves.
REFUSES_FORGED = "authservice_refuses_forged"
# The attribute of a request that `CsrfMiddleware` of the csrf module has checked.
CHECKED = "_authservice_checked"
_SCHEME = phrase("The Authorization header must be 'Bearer' and the access token.")
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
# Characters; our tokens are far shorter, so longer ones are refused without parsing.
_LONGEST = 8192


def identify(request: HttpRequest) -> Caller:
    """The caller of the request. Raises `Unauthorized`, `InvalidToken` or `TokenExpired`."""
    if was_named(request):
        caller: Caller | None = request.__dict__[_KNOWN]
        if caller is None:
            raise errors.Unauthorized
        # Leave a fresh one for the next call: a retry after a deadlock must read the rows again.
        request.__dict__[_KNOWN] = caller.again()
        return caller
    token = access_cookie(request) if by_cookie(request) else _bearer(request)
    if not token:
        raise errors.Unauthorized(_SCHEME if request.META.get("HTTP_AUTHORIZATION") else None)
    return bearer.identify(token)


def require_caller(request: HttpRequest) -> Caller:
    """The caller of a view of the host project, whose session is valid.

    If a cookie identifies the caller of a state-changing request, the request guards must pass, or
    Django's own check for a form that Django rendered. Raises as `identify` and `require_unforged`
    do.
    """
    caller = identify(request)
    caller.require_live()
    changes = request.method not in SAFE_METHODS
    if by_cookie(request) and changes and not passes_django(request):
        require_unforged(request, caller.session_id)
    return caller


def has_foreign_token(request: HttpRequest) -> bool:
    """Whether the `Authorization` header has a bearer token of another issuer, or other
    credentials."""
    if not request.META.get("HTTP_AUTHORIZATION"):
        return False
    try:
        token = _bearer(request)
    except errors.InvalidToken:  # too long for one of ours
        return True
    return not token or not signing.is_ours(token)


def live_caller(request: HttpRequest) -> Caller | None:
    """The caller if the request has a valid token of a valid session, otherwise None; for public
    routes with optional authentication."""
    if not (request.META.get("HTTP_AUTHORIZATION") or accepts_cookies() or was_named(request)):
        return None
    return _live(identify, request)


def signed_in_user(request: HttpRequest) -> Person | None:
    """The user of a valid session in the client of this request, None for nobody. For public routes
    that compare the user with the owner of an account."""
    caller = signed_in_caller(request)
    return caller.person if caller else None


def signed_in_caller(request: HttpRequest) -> Caller | None:
    """This user with the session: of a token or, in a browser, of Django's session."""
    caller = live_caller(request)
    if caller is None and _may_have_session(request) and _is_of_this_site(request):
        caller = _live(_of_ignored_cookie, request) or _live(_of_session, request)
    return caller


def _of_session(request: HttpRequest) -> Caller | None:
    """The caller whom Django's session carries, if the browser has a device cookie of the user."""
    caller = django_session.find(request)
    device = DeviceToken.read(Secret(envelope.get_cookie(request, DEVICE_COOKIE)))
    if caller is None or lockout.find_device(device, caller.person) is None:
        return None
    return caller


def _may_have_session(request: HttpRequest) -> bool:
    """Not a client that names its user otherwise: with a token of ours, valid or not, or by a page,
    which has identified the visitor."""
    if was_named(request) or not (hasattr(request, "session") or ignores_cookie(request)):
        return False
    return not request.META.get("HTTP_AUTHORIZATION") or has_foreign_token(request)


def _is_of_this_site(request: HttpRequest) -> bool:
    """Whether the user opened the address, or a page of this site sent the request. The link of a
    mail is opened from the site of the mailbox, so where a navigation comes from does not
    matter."""
    if request.method in SAFE_METHODS:
        return incoming.is_navigation(request)
    return pages.posted_here(request)


def _of_ignored_cookie(request: HttpRequest) -> Caller | None:
    """The caller of a token cookie that the form of a mailed link ignores."""
    if not ignores_cookie(request) or request.META.get("HTTP_AUTHORIZATION"):
        return None
    return bearer.identify(access_cookie(request)) if accepts_cookies() else None


def _live(find: Callable[[HttpRequest], Caller | None], request: HttpRequest) -> Caller | None:
    try:
        caller = find(request)
        if caller is not None:
            caller.require_live()
    except (errors.Unauthorized, errors.InvalidToken, errors.TokenExpired):
        return None
    return caller


def caller_to_continue(request: HttpRequest) -> Caller | None:
    """As `live_caller`, for a public route that may continue the session of the caller and replace
    its tokens. A session that a cookie identifies must pass the guards that a state-changing route
    of a signed-in user calls. Raises their faults."""
    caller = live_caller(request)
    if caller is not None and by_cookie(request):
        require_unforged(request, caller.session_id)
    return caller


def call_as(request: HttpRequest, caller: Caller | None) -> None:
    """Let a page of this service call a route with this request, for its own user or for nobody,
    whatever the headers and cookies are. The page has refused forged requests."""
    request.__dict__[_KNOWN] = caller


def accepts_cookies() -> bool:
    """Whether token cookies are accepted: they are enabled and a request guard is installed."""
    return token_cookies.enabled and bool(plugs(RequestGuard))


def by_cookie(request: HttpRequest) -> bool:
    """Whether a cookie identifies the caller; an `Authorization` header takes precedence."""
    if request.META.get("HTTP_AUTHORIZATION") or not accepts_cookies():
        return False
    # A caller that `call_as` has set is not identified by a cookie.
    return not (was_named(request) or ignores_cookie(request))


def was_named(request: HttpRequest) -> bool:
    """Whether `call_as` has set who the caller is, or that there is none."""
    return _KNOWN in request.__dict__


def ignore_cookie(request: HttpRequest) -> None:
    """Identify the caller of this request by no cookie. `signed_in_user` may still read it."""
    request.__dict__[_IGNORED] = True


def ignores_cookie(request: HttpRequest) -> bool:
    return _IGNORED in request.__dict__


def cookie_names() -> set[str]:
    """The names of both token cookies, as browsers see them."""
    return {
        envelope.cookie_name(name)
        for name in (token_cookies.access_name, token_cookies.refresh_name)
    }


def access_cookie(request: HttpRequest) -> Secret:
    return _bounded(envelope.get_cookie(request, token_cookies.access_name))


def has_bearer(request: HttpRequest) -> bool:
    """Whether the header has a bearer token, valid or not. If so, a route that requires an
    access token takes its caller from no cookie."""
    scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    return scheme.lower() == "bearer" and bool(token.strip())


def require_unforged(
    request: HttpRequest, session_id: UUID | None = None, *, bearer: bool = False
) -> None:
    """Call every request guard; `session_id` is the session that a token cookie identifies, and
    `bearer` says that a bearer token alone identifies the caller.

    Raises the `Fault` of the first guard that refuses.
    """
    for guard in plugs(RequestGuard):
        guard.check(request, session_id, bearer=bearer)


def passes_django(request: HttpRequest) -> bool:
    """Whether a request to a view of the host project has Django's own CSRF token, from an origin
    that Django trusts, as the form of a template with `{% csrf_token %}` does.

    No route of this service accepts Django's token. Without a header or a form that can have the
    token the result is False, without a check: Django would read the body.
    """
    if getattr(request, "_dont_enforce_csrf_checks", False):
        return False  # Django's test client: nothing was checked
    if not request.META.get(settings.CSRF_HEADER_NAME) and request.content_type not in _FORMS:
        return False
    check = _DjangoCheck(lambda _: None)  # type: ignore[arg-type]
    check.process_request(request)
    return check.process_view(request, lambda _: HttpResponse(), (), {}) is None


def has_django_token(request: HttpRequest) -> bool:
    """As `passes_django`; also true for Django's test client, which checks nothing."""
    return getattr(request, "_dont_enforce_csrf_checks", False) or passes_django(request)


def was_checked(request: HttpRequest) -> bool:
    """Whether a middleware or decorator has checked that this request is not forged."""
    return getattr(request, "csrf_processing_done", False) or CHECKED in request.__dict__


class _DjangoCheck(CsrfViewMiddleware):
    """Returns the reason of a refusal instead of a response, as in the REST framework's
    `SessionAuthentication`."""

    def _reject(self, request: HttpRequest, reason: str) -> Any:
        return reason


def _bearer(request: HttpRequest) -> Secret:
    scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    return _bounded(token.strip() if scheme.lower() == "bearer" else "")


def _bounded(token: str) -> Secret:
    if len(token) > _LONGEST:
        raise errors.InvalidToken
    return Secret(token)
