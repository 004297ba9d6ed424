"""All mutations, and the tests that must detect them."""

from __future__ import annotations

from tests.mutations import (
    accounts,
    compat,
    core,
    earlier_access,
    host_views,
    importing,
    invitations,
    limits,
    log,
    old_users,
    one_time,
    organizations,
    outbound,
    prepared,
    providers,
    recovery,
    second_factors,
    sessions,
    staff,
)

MUTATIONS = (
    *(*core.LOGINS, *core.SESSION_START, *one_time.ONE_TIME_TOKENS, *core.TOKENS, *core.RIGHTS),
    *core.RACES,
    *prepared.PREPARED,
    *accounts.SYNC,
    *accounts.IDENTIFIERS,
    *(*sessions.FORGERY, *one_time.PLACES, *sessions.SESSIONS, *log.LOG),
    *(*one_time.MAIL, *second_factors.SECOND_FACTORS),
    *staff.STAFF,
    *(*recovery.EVICTION, *recovery.NUMBERS, *recovery.NOTICES, *recovery.PAGES),
    *earlier_access.EARLIER,
    *host_views.HOST_VIEWS,
    *compat.COMPAT,
    *providers.PROVIDERS,
    *importing.IMPORTING,
    *old_users.OLD_USERS,
    *recovery.LOST_NOTICES,
    *recovery.FACTORS,
    *organizations.ORGANIZATIONS,
    *invitations.INVITATIONS,
    *(*limits.ATTEMPTS, *limits.MESSAGES, *limits.WORK, *limits.TEXTS),
    *(*outbound.OUTBOUND, *outbound.PROVIDERS),
)
