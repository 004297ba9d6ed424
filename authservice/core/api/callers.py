"""Identify the caller by the bearer token in the header (RFC 6750 section 2.1) or, if the host
project enabled token cookies, in the cookie.

Browsers send cookies with every request, also with those of other sites. So token cookies are used
only if a guard against forged requests is installed (the csrf module), regardless of the settings.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import CsrfViewMiddleware

from authservice.core.sessions import bearer
from authservice.core.sessions.bearer import Caller
from authservice.core.tokens import access_tokens
from authservice.kernel import errors
from authservice.kernel.http import cookies
from authservice.kernel.interfaces import RequestGuard
from authservice.kernel.modules import plugs
from authservice.kernel.phrases import phrase
from authservice.kernel.secret import Secret
from authservice.kernel.sections import cookies as token_cookies

_KNOWN = "_authservice_caller"
_SCHEME = phrase("The Authorization header must be 'Bearer' and the access token.")
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
# Characters; our tokens are far shorter, so longer ones are refused without parsing.
_LONGEST = 8192


def call_as(request: HttpRequest, caller: Caller | None) -> None:
    """Let a page of this service call a route with this request, for its own user or for nobody,
    whatever the headers and cookies are. The page has refused forged requests."""
    request.__dict__[_KNOWN] = caller


def identify(request: HttpRequest) -> Caller:
    """The caller of the request. Raises `Unauthorized`, `InvalidToken` or `TokenExpired`."""
    if _KNOWN in request.__dict__:
        known: Caller | None = request.__dict__[_KNOWN]
        if known is None:
            raise errors.Unauthorized
        # Not the same object: a retry after a deadlock reads the rows again.
        return Caller(known.claims, known.session_id, has_token=known.has_token)
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
    return not token or not access_tokens.is_ours(token)


def live_caller(request: HttpRequest) -> Caller | None:
    """The caller if the request has a valid token of a valid session, otherwise None; for public
    routes with optional authentication."""
    try:
        caller = identify(request)
        caller.require_live()
    except (errors.Unauthorized, errors.InvalidToken, errors.TokenExpired):
        return None
    return caller


def caller_to_continue(request: HttpRequest) -> Caller | None:
    """The same, for a public route that may continue the session of the caller and replace its
    tokens. A session of a cookie must pass the guards that a state-changing route of a signed-in
    user calls. Raises their faults."""
    caller = live_caller(request)
    if caller is not None and by_cookie(request):
        require_unforged(request, caller.session_id)
    return caller


def accepts_cookies() -> bool:
    """Whether token cookies are accepted: they are enabled and a request guard is installed."""
    return token_cookies.enabled and bool(plugs(RequestGuard))


def by_cookie(request: HttpRequest) -> bool:
    """Whether a cookie identifies the caller; an `Authorization` header takes precedence."""
    if request.META.get("HTTP_AUTHORIZATION") or not accepts_cookies():
        return False
    return _KNOWN not in request.__dict__


def access_cookie(request: HttpRequest) -> Secret:
    return _bounded(cookies.get(request, token_cookies.access_name))


def has_bearer(request: HttpRequest) -> bool:
    """Whether the header has a bearer token, valid or not. A route that requires an access token
    takes its caller from no cookie then."""
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

    The routes of this service never ask for it. Without a token of a form or a header it is not
    checked, since Django would read the body.
    """
    if getattr(request, "_dont_enforce_csrf_checks", False):
        return False  # Django's test client: nothing was checked
    if not request.META.get(settings.CSRF_HEADER_NAME) and request.content_type not in _FORMS:
        return False
    check = _DjangoCheck(lambda _: None)  # type: ignore[arg-type]
    check.process_request(request)
    return check.process_view(request, lambda _: HttpResponse(), (), {}) is None


class _DjangoCheck(CsrfViewMiddleware):
    """As the REST framework's `SessionAuthentication` uses it: the reason instead of a response."""

    def _reject(self, request: HttpRequest, reason: str) -> Any:
        return reason


def _bearer(request: HttpRequest) -> Secret:
    _, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    return _bounded(token.strip() if has_bearer(request) else "")


def _bounded(token: str) -> Secret:
    if len(token) > _LONGEST:
        raise errors.InvalidToken
    return Secret(token)
