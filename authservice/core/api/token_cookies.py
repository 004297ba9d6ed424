"""Tokens in cookies as well as in JSON: every response with tokens sets them. Scripts cannot read
them, and a logout deletes them.

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
from authservice.core.sessions import rotation as refreshing
from authservice.core.sessions import sessions
from authservice.core.sessions.login_policy import policy
from authservice.core.sessions.sessions import Tokens
from authservice.core.tokens import access_tokens
from authservice.core.tokens.refresh import RefreshToken, parse
from authservice.kernel import crypto, errors
from authservice.kernel.http import cookies
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
    kept = (
        (conf.access_name, issued.access_token, root.access_token_ttl),
        (conf.refresh_name, issued.refresh_token, policy().lifetimes().idle),
    )
    for name, token, ttl in kept:
        if not token:
            continue  # the client keeps the refresh token that it has
        cookies.put(response, name, token.reveal(), ttl=ttl, samesite=conf.samesite)


def forget(response: HttpResponse) -> None:
    if accepts_cookies():
        for name in (conf.access_name, conf.refresh_name):
            cookies.forget(response, name, samesite=conf.samesite)


def refresh(view: Endpoint) -> Tokens:
    """New tokens for the refresh token of the body or, without one, of the cookie.

    Raises `InvalidRefreshToken`, `TooManyRequests`, `ValidationFailed`, `InvalidCsrf`.
    """
    kept = _refresh_cookie(view.request)
    sent = view.body.get("refresh_token") is not None
    if not sent and not kept and (old := _foreign_cookie(view.request)):
        # The guards were called before the action; there is no session yet that they could check.
        return _trade(view, old)
    if sent or not kept:
        return foreign_tokens.refresh(view.read(RefreshIn)["refresh_token"], view.client)
    token = _parsed(kept)
    require_unforged(view.request, token.session_id if token else None)
    try:
        return refreshing.refresh(kept, view.client)
    except refreshing.Superseded:
        raise  # the browser has newer cookies by now
    except errors.InvalidRefreshToken:
        view.on_response = forget
        raise


def continuing(view: Endpoint, sent: Secret, act: Callable[[Secret], T]) -> T:
    """Call `act` with the refresh token of a signed-in client that continues its session: that of
    the body, which is `sent`, or of the cookie if a cookie identifies the client.

    A cookie that was replaced a moment ago, by another tab, counts as none: the browser chose it.
    """
    if sent or not by_cookie(view.request):
        return act(sent)
    try:
        return act(_refresh_cookie(view.request))
    except errors.InvalidRefreshToken:
        return act(Secret(""))


def _trade(view: Endpoint, old: Secret) -> Tokens:
    try:
        issued = foreign_tokens.refresh(old, view.client)
    except errors.InvalidRefreshToken:
        # It would be sent with each refresh, and refused again. After any other error, such as a
        # crash or too many requests, the browser tries again with it.
        view.on_response = _forget_foreign
        raise
    view.on_response = _forget_foreign
    return issued


def session_of(request: HttpRequest) -> UUID | None:
    """The id of the session that the cookies of the request belong to, on any route."""
    return access_session_of(request) or _refresh_session_of(request)


def access_session_of(request: HttpRequest) -> UUID | None:
    """The same by the access token alone, without a query."""
    if not accepts_cookies():
        return None
    try:
        return UUID(access_tokens.read(access_cookie(request))["sid"])
    except (errors.Fault, ValueError):
        return None


def _refresh_session_of(request: HttpRequest) -> UUID | None:
    token = _parsed(_refresh_cookie(request))
    found = token and sessions.find_for_refresh(token.session_id)
    if not token or not found or not token.genuine(found[1].seed):
        return None
    return token.session_id


def _refresh_cookie(request: HttpRequest) -> Secret:
    return Secret(cookies.get(request, conf.refresh_name) if accepts_cookies() else "")


def _foreign_cookie(request: HttpRequest) -> Secret:
    """The refresh token that another package keeps in a cookie, if it can be traded."""
    tokens = plug(ForeignTokens)
    name = tokens.cookie if tokens and accepts_cookies() else ""
    return Secret(request.COOKIES.get(name, "") if name else "")


def _forget_foreign(response: HttpResponse) -> None:
    response.delete_cookie(plugs(ForeignTokens)[-1].cookie, samesite=conf.samesite)


def _parsed(text: Secret) -> RefreshToken | None:
    try:
        return parse(text)
    except crypto.Unreadable:
        return None
