"""All that is broken, and the tests that are to turn red."""

from __future__ import annotations

from tests.mutations import core, log, one_time, second_factors, sessions

MUTATIONS = (
    *(*core.SIGN_INS, *core.DOOR, *one_time.TICKETS, *core.TOKENS, *core.RIGHTS),
    *core.RACES,
    *(*sessions.FORGERY, *one_time.PLACES, *sessions.SESSIONS, *log.LOG),
    *(*one_time.MAIL, *second_factors.SECOND_FACTORS),
)
