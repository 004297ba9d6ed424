"""Deeds at the routes of the session module, and what the log says of them."""

from __future__ import annotations

from authservice.core.models import Session
from tests.audit.world import deed, silent

REVOKED = "security.session.revoked ann"
NEVER = "01900000-0000-7000-8000-000000000000"


def oldest(world):
    return f"sessions/{Session.objects.filter(user=world.ann_id).earliest('created_at').pk}"


def ask(world, method, path):
    return lambda: world.as_ann(method, path)


@deed("DELETE /sessions/{session_id}", REVOKED)
def ending_a_session(world):
    world.log_in()
    return ask(world, "DELETE", oldest(world))


@deed("DELETE /sessions/{session_id}", code="SESSION_NOT_FOUND")
def ending_a_session_of_nobody(world):
    return ask(world, "DELETE", f"sessions/{NEVER}")


@deed("DELETE /sessions", REVOKED)
def ending_all_others(world):
    world.log_in()
    world.log_in()
    return ask(world, "DELETE", "sessions")


@deed("DELETE /sessions")
def ending_others_where_there_are_none(world):
    return ask(world, "DELETE", "sessions")


@deed("POST /login", "security.new_device ann", REVOKED, "auth.login.success ann")
def signing_in_where_another_session_must_make_room(world):
    world.configure(SESSION={"MAX_PER_USER": 1})
    return world.log_in


@deed("GET /sessions/{session_id}", code="SESSION_NOT_FOUND")
def looking_for_a_session_of_nobody(world):
    return ask(world, "GET", f"sessions/{NEVER}")


silent("GET /sessions", lambda world: world.as_ann("GET", "sessions"))
silent("GET /sessions/{session_id}", lambda world: world.as_ann("GET", oldest(world)))
