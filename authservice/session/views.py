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
from authservice.kernel.phrases import phrase
from authservice.session import own_sessions
from authservice.session.errors import SessionNotFound


class Session(TypedDict):
    """One valid session; `expires_at` is when it ends if it is not used before."""

    id: str
    user_agent: str
    ip_address: str
    created_at: Moment
    expires_at: Moment
    current: bool


class Sessions(Endpoint):
    @operation(
        query=ArrayQuery,
        answer=counted(list[Session]),
        id="listSessions",
    )
    def find(self) -> HttpResponse:
        """List the user's sessions, newest first

        The active sessions of the signed-in user, newest first, for a page "Your devices".
        `current` is true for the session of this request. `user_agent` and `ip_address` are those
        of the login. `limit` is 100 at most and by default; `X-Total-Count` is the number of all.
        """
        caller, part = self.identity, array_part(self.request.GET)
        found, total = own_sessions.page_of(caller.person, part)
        return array([_session(session, caller.session_id) for session in found], total)

    @operation(answer=MessageResponse, answered="All other sessions have ended.")
    def revoke_others(self) -> HttpResponse:
        """Revoke all sessions except the current one

        Ends all sessions of the user except the one of this request: "Log out everywhere else".
        Their access and refresh tokens are refused from the next request on.
        """
        own_sessions.revoke_others(self.identity.person, self.identity.session, self.client)
        return responses.message_response(phrase("All other sessions were revoked."))


class OneSession(Endpoint):
    @operation(answer=Session, faults=(SessionNotFound,))
    def show(self, session_id: str) -> HttpResponse:
        """Show a session

        One active session of the signed-in user. 404 `SESSION_NOT_FOUND` is the answer for an
        unknown id, for a session that has ended and for one of another user.
        """
        found = own_sessions.find(self.identity.person, session_id)
        return answer(_session(found, self.identity.session_id))

    @operation(answer=MessageResponse, faults=(SessionNotFound,), answered="The session has ended.")
    def revoke(self, session_id: str) -> HttpResponse:
        """Revoke a session

        Ends one session of the user, which may be the current one: its tokens are refused from the
        next request on. 404 `SESSION_NOT_FOUND` means that it has ended already or belongs to
        another user; read the list again.
        """
        caller = self.identity
        ended = own_sessions.revoke(caller.person, caller.session, session_id, self.client)
        if ended == caller.session_id:
            self.on_response = token_cookies.forget
        return responses.message_response(phrase("The session was revoked."))


def _session(session: SessionRow, current: UUID) -> Session:
    return {
        "id": str(session.pk),
        "user_agent": session.user_agent,
        "ip_address": session.ip_address,
        "created_at": utc(session.created_at),
        "expires_at": utc(min(session.idle_expires_at, session.expires_at)),
        "current": session.pk == current,
    }
