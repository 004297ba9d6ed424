"""Endpoints of a user's sessions; login, refresh and logout are in core."""

from __future__ import annotations

from typing import TypedDict
from uuid import UUID

from django.http import HttpResponse

from authservice.core.api import responses, token_cookies
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.responses import MessageResponse
from authservice.core.models import Session as SessionRow
from authservice.kernel import errors
from authservice.kernel.http.envelope import answer, utc
from authservice.kernel.http.operations import Moment, Uuid, operation
from authservice.kernel.phrases import phrase
from authservice.session import sessions


class Session(TypedDict):
    """One valid session; `expires_at` is when it ends if it is not used before."""

    id: Uuid
    user_agent: str
    ip_address: str
    created_at: Moment
    expires_at: Moment
    current: bool


class Sessions(Endpoint):
    @operation("List the user's sessions, newest first", answer=list[Session])
    def find(self) -> HttpResponse:
        found = sessions.live(self.identity.person)
        return answer([_session(session, self.identity.session_id) for session in found])

    @operation("Revoke all sessions except the current one", answer=MessageResponse)
    def revoke_others(self) -> HttpResponse:
        sessions.revoke_others(self.identity.person, self.identity.session, self.client)
        return responses.message_response(phrase("All other sessions were revoked."))


class OneSession(Endpoint):
    @operation("Show a session", answer=Session, faults=(errors.SessionNotFound,))
    def show(self, session_id: str) -> HttpResponse:
        found = sessions.find(self.identity.person, session_id)
        return answer(_session(found, self.identity.session_id))

    @operation("Revoke a session", answer=MessageResponse, faults=(errors.SessionNotFound,))
    def revoke(self, session_id: str) -> HttpResponse:
        caller = self.identity
        ended = sessions.revoke(caller.person, caller.session, session_id, self.client)
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
