"""Tokens in cookies as well as in JSON: every response with tokens sets both cookies. Scripts
cannot read them, and a logout deletes them.

They are accepted only together with a protection against forged requests (CSRF). Public routes
ignore them, except for a refresh without a token in its body.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from authservice.core.api.callers import (
    accepts_cookies,
    access_cookie,
    by_cookie,
    require_unforged,
)
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.serializers import RefreshIn
from authservice.core.login import foreign_tokens
from authservice.core.sessions import revocation, sessions
from authservice.core.sessions import rotation as refreshing
from authservice.core.sessions.sessions import Tokens, policy
from authservice.core.tokens import signing
from authservice.core.tokens.signing import RefreshToken, parse_refresh_token
from authservice.core.users.person import Person
from authservice.kernel import errors, secret
from authservice.kernel.http import envelope
from authservice.kernel.http.incoming import of_page
from authservice.kernel.interfaces import ForeignTokens
from authservice.kernel.modules import plug, plugs
from authservice.kernel.secret import Secret
from authservice.kernel.sections import cookies as conf
from authservice.kernel.sections import root

T = TypeVar("T")


def put(response: HttpResponse, issued: Tokens) -> None:
    """Set the cookies if the host project uses them."""
    if not accepts_cookies():
        return
    values = (
        (conf.access_name, issued.access_token, root.access_token_ttl),
        (conf.refresh_name, issued.refresh_token, policy().lifetimes().idle),
    )
    for name, token, ttl in values:
        if not token:
            continue  # the client keeps the refresh token that it has
        envelope.put_cookie(response, name, token.reveal(), ttl=ttl, samesite=conf.samesite)


def forget(response: HttpResponse) -> None:
    if accepts_cookies():
        for name in (conf.access_name, conf.refresh_name):
            envelope.forget_cookie(response, name, samesite=conf.samesite)


def leave_other_user(request: HttpRequest, response: HttpResponse, person: Person) -> None:
    """After a login as `person` by a page, which sets no cookies of tokens: end the session of the
    cookies, and delete them, if it belongs to another user. Otherwise one browser would act for
    two users."""
    session_id = session_of(request)
    person_and_session = session_id and sessions.find_for_request(session_id)
    if not session_id or not person_and_session or person_and_session[0].id == person.id:
        return
    revocation.end_carried(session_id, of_page(request))
    forget(response)


def refresh(view: Endpoint) -> Tokens:
    """New tokens for the refresh token of the body or, without one, of the cookie.

    Raises `InvalidRefreshToken`, `TooManyRequests`, `ValidationFailed`, `InvalidCsrf`.
    """
    cookie = _refresh_cookie(view.request)
    in_body = view.body.get("refresh_token") is not None
    if not in_body and not cookie and (foreign := _foreign_cookie(view.request)):
        # The guards were called before the action; there is no session yet that they could check.
        try:
            issued = foreign_tokens.refresh(foreign, view.client)
        except errors.InvalidRefreshToken:
            # The browser would send this cookie with each refresh, which would be refused again.
            # After any other error, such as a crash or too many requests, it tries again with it.
            view.on_response = _forget_foreign
            raise
        view.on_response = _forget_foreign
        return issued
    if in_body or not cookie:
        # A token of ours, or one of another package, which is traded.
        return foreign_tokens.refresh(view.read(RefreshIn)["refresh_token"], view.client)
    token = _parsed(cookie)
    require_unforged(view.request, token.session_id if token else None)
    try:
        return refreshing.refresh(cookie, view.client)
    except refreshing.Superseded:
        raise  # the browser has newer cookies by now
    except errors.InvalidRefreshToken:
        view.on_response = forget
        raise


def continuing(view: Endpoint, sent: Secret, act: Callable[[Secret], T]) -> T:
    """Call `act` with the refresh token of a signed-in client that continues its session: that of
    the body, which is `sent`, or of the cookie if a cookie identifies the client.

    A cookie that is refused, such as one that another tab replaced a moment ago, counts as none:
    the browser chose it, not the client.
    """
    if sent or not by_cookie(view.request):
        return act(sent)
    try:
        return act(_refresh_cookie(view.request))
    except errors.InvalidRefreshToken:
        return act(Secret(""))


def session_of(request: HttpRequest) -> UUID | None:
    """The id of the session that the cookies of the request belong to, on any route."""
    by_access_token = access_session_of(request)
    if by_access_token:
        return by_access_token
    token = _parsed(_refresh_cookie(request))
    person_and_session = token and sessions.find_for_refresh(token.session_id)
    if not token or not person_and_session or not token.genuine(person_and_session[1].seed):
        return None
    return token.session_id


def access_session_of(request: HttpRequest) -> UUID | None:
    """As `session_of`, by the access token alone and without a query."""
    if not accepts_cookies():
        return None
    try:
        return UUID(signing.read_access_token(access_cookie(request))["sid"])
    except (errors.Fault, ValueError):
        return None


def _refresh_cookie(request: HttpRequest) -> Secret:
    return Secret(envelope.get_cookie(request, conf.refresh_name) if accepts_cookies() else "")


def _foreign_cookie(request: HttpRequest) -> Secret:
    """The refresh token that another package keeps in a cookie, if it can be traded."""
    tokens = plug(ForeignTokens)
    name = tokens.cookie if tokens and accepts_cookies() else ""
    return Secret(request.COOKIES.get(name, "") if name else "")


def _forget_foreign(response: HttpResponse) -> None:
    response.delete_cookie(plugs(ForeignTokens)[-1].cookie, samesite=conf.samesite)


def _parsed(text: Secret) -> RefreshToken | None:
    try:
        return parse_refresh_token(text)
    except secret.Unreadable:
        return None
