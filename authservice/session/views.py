"""Endpoints of a user's sessions; login, refresh and logout are in core."""

from __future__ import annotations

from typing import TypedDict
from uuid import UUID

from django.http import HttpResponse

from authservice.core.api import responses, token_cookies
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.responses import MessageResponse
from authservice.core.models import Session as SessionRow
from authservice.kernel.http.envelope import answer, utc
from authservice.kernel.http.listing import ArrayQuery, array, array_part, counted
from authservice.kernel.http.operations import Moment, operation
from authservice.kernel.languages import phrase
from authservice.session import session_policy
from authservice.session.errors import SessionNotFound


class Session(TypedDict):
    """One valid session. `last_used_at` is the last use that was stored, and `expires_at` when the
    session ends if it is not used before."""

    id: str
    user_agent: str
    ip_address: str
    created_at: Moment
    last_used_at: Moment
    expires_at: Moment
    current: bool


class Sessions(Endpoint):
    path = "sessions"
    route = "sessions"

    @operation(
        "GET",
        query=ArrayQuery,
        answer=counted(list[Session]),
        id="listSessions",
    )
    def find(self) -> HttpResponse:
        """List the user's sessions, newest first

        The active sessions of the signed-in user, newest first, for a page "Your devices".
        `current` is true for the session of this request. `user_agent` and `ip_address` are those
        of the login. To save writes, a use is stored every five minutes at most: show "active now"
        until `last_used_at` is longer ago, and for the current session. `limit` is 100 at most and
        by default; `X-Total-Count` is the number of all.
        """
        caller = self.identity
        page = array_part(self.request.GET)
        rows, total = session_policy.page_of(caller.person, page)
        return array([_session(row, caller.session_id) for row in rows], total)

    @operation("DELETE", answer=MessageResponse, answered="All other sessions have ended.")
    def revoke_others(self) -> HttpResponse:
        """Revoke all sessions except the current one

        Ends all sessions of the user except the one of this request: "Log out everywhere else".
        Their access and refresh tokens are refused from the next request on.
        """
        session_policy.revoke_others(self.identity.person, self.identity.session, self.client)
        return responses.message_response(phrase("All other sessions were revoked."))


class OneSession(Endpoint):
    path = "sessions/<str:session_id>"
    route = "session"

    @operation("GET", answer=Session, faults=(SessionNotFound,))
    def show(self, session_id: str) -> HttpResponse:
        """Show a session

        One active session of the signed-in user. 404 `SESSION_NOT_FOUND` is the answer for an
        unknown id, for a session that has ended and for one of another user.
        """
        row = session_policy.find(self.identity.person, session_id)
        return answer(_session(row, self.identity.session_id))

    @operation(
        "DELETE",
        answer=MessageResponse,
        faults=(SessionNotFound,),
        answered="The session has ended.",
    )
    def revoke(self, session_id: str) -> HttpResponse:
        """Revoke a session

        Ends one session of the user, which may be the current one: its tokens are refused from the
        next request on. 404 `SESSION_NOT_FOUND` means that it has ended already or belongs to
        another user; read the list again.
        """
        caller = self.identity
        revoked_id = session_policy.revoke(caller.person, caller.session, session_id, self.client)
        if revoked_id == caller.session_id:
            self.on_response = token_cookies.forget
        return responses.message_response(phrase("The session was revoked."))


def _session(session: SessionRow, current: UUID) -> Session:
    return {
        "id": str(session.pk),
        "user_agent": session.user_agent,
        "ip_address": session.ip_address,
        "created_at": utc(session.created_at),
        "last_used_at": utc(session.last_used_at),
        "expires_at": utc(min(session.idle_expires_at, session.expires_at)),
        "current": session.pk == current,
    }
