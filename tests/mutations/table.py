"""All that is broken, and the tests that are to turn red."""

from __future__ import annotations

from tests.mutations import (
    accounts,
    core,
    earlier_access,
    limits,
    log,
    one_time,
    recovery,
    second_factors,
    sessions,
    staff,
)

MUTATIONS = (
    *(*core.SIGN_INS, *core.DOOR, *one_time.TICKETS, *core.TOKENS, *core.RIGHTS),
    *core.RACES,
    *accounts.SYNC,
    *accounts.IDENTIFIERS,
    *(*sessions.FORGERY, *one_time.PLACES, *sessions.SESSIONS, *log.LOG),
    *(*one_time.MAIL, *second_factors.SECOND_FACTORS),
    *staff.STAFF,
    *(*recovery.EVICTION, *recovery.NUMBERS, *recovery.NOTICES, *recovery.PAGES),
    *earlier_access.EARLIER,
    *recovery.LOST_NOTICES,
    *recovery.FACTORS,
    *(*limits.ATTEMPTS, *limits.MESSAGES, *limits.WORK, *limits.TEXTS),
)
