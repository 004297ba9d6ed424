"""Users change their own username."""

from __future__ import annotations

from authservice.core.models import Session
from authservice.core.recovery import recent_proof
from authservice.core.recovery.recent_proof import Proof
from authservice.core.sessions import sessions
from authservice.core.users import identifier_change
from authservice.core.users.identifiers import USERNAME
from authservice.core.users.person import Person
from authservice.kernel import events
from authservice.kernel.client import Client


def change(person: Person, session: Session, username: str, proof: Proof, client: Client) -> Person:
    """Store the username; returns the user as stored.

    Raises as `recent_proof.require_owner` does, `UsernameAlreadyExists`, `ValidationFailed`,
    `TooManyRequests` and `InvalidToken`.
    """
    if proof.password and proof.code:
        # A taken username must not use up a backup code. This reveals what `POST /is-available`
        # does, under its limit. Each free username costs an attempt at the password.
        with identifier_change.counted(client):
            identifier_change.require_free(person, USERNAME, username)
    recent_proof.require_owner(person, session, proof, client, method="change_username")
    with identifier_change.counted(client), sessions.changing(person, session) as present:
        recent_proof.require_unchanged(person, present)
        before = present.username
        if username != before:
            identifier_change.replace(present, USERNAME, username)
            change = {"before": before, "after": username}
            events.record("user.username.changed", present, client, username=change)
    return present
