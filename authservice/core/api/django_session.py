"""A session of this service that Django's session carries, for pages that Django renders.

Such pages have no script that keeps and refreshes tokens. So Django's session, a cookie that no
script can read, has the claims of the access token that the login issued, and nobody gets the
tokens. The row of our session decides: once it has ended, the next request is anonymous, whatever
the engine of Django's sessions is, signed cookies included. Our session expires at its own times,
which each use moves. Django's session must last at least as long as a pause that ours allows, or
it ends before: `authservice.W246` compares `SESSION_COOKIE_AGE` with `REFRESH_TOKEN_TTL`.

Django's session names `BACKEND`, which must not be in `AUTHENTICATION_BACKENDS`: a project without
`AuthserviceMiddleware` then sees nobody, rather than a user whose session it cannot end.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.base import SessionBase, UpdateError
from django.http import HttpRequest
from django.middleware.csrf import rotate_token

from authservice.core.sessions import bearer, sessions
from authservice.core.sessions.bearer import Caller
from authservice.core.staff import admin_login
from authservice.kernel import clock
from authservice.kernel.secret import Secret
from authservice.kernel.sections import root

BACKEND = f"{__name__}.SessionBackend"
_CLAIMS = "_authservice_claims"
# Claims about the access token, which nobody has: they are not stored.
_OF_TOKEN = ("aud", "exp", "iss", "jti", "typ")


class SessionBackend:
    """Authenticates nobody. Packages that change the user of Django's session load it."""

    def authenticate(self, request: Any, **_: Any) -> None:
        return None

    def get_user(self, pk: Any) -> None:
        return None


def begin(request: HttpRequest, access_token: Secret, *, remember: bool) -> Caller:
    """Let Django's session carry the session of this token, in place of what it carried before.
    Without `remember` the browser forgets Django's session when it is closed. Returns the user with
    the session. Raises as `bearer.identify`."""
    caller = bearer.identify(access_token)
    user, session = caller.person.user, request.session
    previous = session_id(request)
    if previous:
        sessions.end(previous, sessions.LOGOUT)
    # As Django's `login` does: no other user's data, and no key that somebody else may know.
    if session.get(SESSION_KEY, key_of(user)) != key_of(user):
        session.flush()
    else:
        session.cycle_key()
    session[SESSION_KEY] = key_of(user)
    session[BACKEND_SESSION_KEY] = BACKEND
    # "" for a user model without the method: `str()`.
    session[HASH_SESSION_KEY] = getattr(user, "get_session_auth_hash", str)()
    _carry(request, caller)
    time_left = caller.session.expires_at - clock.now()
    session.set_expiry(int(time_left.total_seconds()) if remember else 0)
    rotate_token(request)
    return caller


def renew(request: HttpRequest, access_token: Secret) -> None:
    """Store the claims of a newer token of the session that Django's session carries."""
    _carry(request, bearer.identify(access_token))


def survive_deletion(request: HttpRequest) -> None:
    """Treat the visitor as signed out if somebody else deletes Django's session before this request
    stores it, as a logout in another tab does. Otherwise Django's middleware would answer 400, also
    to a request that changed nothing but the claims that this service keeps in the session.

    A login in another tab deletes the session too, under its old key. So the response leaves the
    cookie alone: a new value would replace the cookie of that login.
    """
    session = getattr(request, "session", None)
    if not isinstance(session, SessionBase) or "is_empty" in vars(session):
        return
    save, is_empty = session.save, session.is_empty

    def is_empty_or_deleted() -> bool:
        """Django's middleware asks this before it saves. It neither saves an empty session nor sets
        a cookie for it, and removes the cookie only if the request has one."""
        name = settings.SESSION_COOKIE_NAME
        stores = session.modified or settings.SESSION_SAVE_EVERY_REQUEST
        # A login has stored a new key in this request, which a replica may not have yet.
        is_old = session.session_key is not None and session.session_key == request.COOKIES.get(
            name
        )
        if is_old and stores and not is_empty() and _is_deleted(session):
            session.flush()
            del request.COOKIES[name]
        return is_empty()

    def save_or_forget(**options: Any) -> None:
        try:
            save(**options)
        except UpdateError:
            if not _is_deleted(session):
                raise  # the database failed
            # Deleted since `is_empty`, so the middleware sets a cookie: that of an empty session.
            session.flush()
            session.create()

    # Of this object only.
    vars(session).update(save=save_or_forget, is_empty=is_empty_or_deleted)


def _is_deleted(session: SessionBase) -> bool:
    """Whether the next request with this key would find no session. `exists` does not tell: it is
    always false for signed cookies."""
    stored = type(session)(session.session_key)
    stored.load()
    return stored.session_key is None


def freshen(request: HttpRequest, caller: Caller) -> Caller:
    """The caller, with newer claims if its claims are older than an access token may be: roles and
    what a hook of the project adds change while a session lasts."""
    # At the time of the caller's other checks, so that all of them agree on what has expired.
    with clock.unit(caller.reading):
        if clock.timestamp() - caller.claims["iat"] < root.access_token_ttl.total_seconds():
            return caller
        person_and_session = sessions.find_for_refresh(caller.session_id)
        if person_and_session is not None:
            renew(request, sessions.issue_tokens(*person_and_session).access_token)
        return find(request) or caller


def find(request: HttpRequest) -> Caller | None:
    """The caller if Django's session carries a session of ours, valid or not. Its rows are
    read later, in one query."""
    session = getattr(request, "session", None)
    if session is None or session.get(BACKEND_SESSION_KEY) != BACKEND:
        return None
    claims = session.get(_CLAIMS)
    if not claims:
        return None
    return Caller(claims, UUID(claims["sid"]), has_token=False)


def session_id(request: Any) -> UUID | None:
    """The id of our session that Django's session carries, also after another login took it over
    for the same user."""
    claims = getattr(request, "session", {}).get(_CLAIMS)
    return UUID(claims["sid"]) if claims else None


def lacks_ours(request: HttpRequest, user: Any) -> bool:
    """Whether a package has just logged this user in with the back end that it found in Django's
    session: the session then names ours, but carries no session of ours yet."""
    session = getattr(request, "session", {})
    named = session.get(BACKEND_SESSION_KEY) == BACKEND and _CLAIMS not in session
    return named and bool(session.get(SESSION_KEY) == key_of(user))


def key_of(user: Any) -> str:
    return str(user._meta.pk.value_to_string(user))


def _carry(request: HttpRequest, caller: Caller) -> None:
    caller.require_live()
    survive_deletion(request)
    claims = {name: value for name, value in caller.claims.items() if name not in _OF_TOKEN}
    request.session[_CLAIMS] = claims
    # Django admin compares them: they change when all sessions of the user end.
    admin_login.store_versions(request, caller.person)
