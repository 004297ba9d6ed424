"""Requests to the routes of the session module, and the audit entries that they write."""

from __future__ import annotations

from authservice.core.models import Session
from tests.audit.world import case, silent

REVOKED = "security.session.revoked ann"
UNKNOWN = "01900000-0000-7000-8000-000000000000"


def oldest(world):
    return f"sessions/{Session.objects.filter(user=world.ann_id).earliest('created_at').pk}"


def ask(world, method, path):
    return lambda: world.as_ann(method, path)


@case("DELETE /sessions/{session_id}", REVOKED)
def revocation(world):
    world.log_in()
    return ask(world, "DELETE", oldest(world))


@case("DELETE /sessions/{session_id}", code="SESSION_NOT_FOUND")
def revocation_of_unknown_session(world):
    return ask(world, "DELETE", f"sessions/{UNKNOWN}")


@case("DELETE /sessions", REVOKED)
def revocation_of_other_sessions(world):
    world.log_in()
    world.log_in()
    return ask(world, "DELETE", "sessions")


@case("DELETE /sessions")
def revocation_without_other_sessions(world):
    return ask(world, "DELETE", "sessions")


@case("POST /login", REVOKED, "security.new_device ann", "auth.login.success ann")
def login_beyond_the_maximum_of_sessions(world):
    world.configure(SESSION={"MAX_PER_USER": 1})
    return world.log_in


@case("GET /sessions/{session_id}", code="SESSION_NOT_FOUND")
def read_of_unknown_session(world):
    return ask(world, "GET", f"sessions/{UNKNOWN}")


silent("GET /sessions", lambda world: world.as_ann("GET", "sessions"))
silent("GET /sessions/{session_id}", lambda world: world.as_ann("GET", oldest(world)))
