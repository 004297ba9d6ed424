"""A way to log in that no module of this package has: a printed badge that works once.

It knows no rule of a login but its own: `enter` has the others.
"""

from datetime import timedelta

from authservice.core import errors
from authservice.core.credentials import one_time
from authservice.core.credentials.one_time import Purpose
from authservice.core.login import login
from authservice.core.users import lookup

BADGE = Purpose("badge", link_ttl=timedelta(days=1))


def issue(user):
    person = lookup.get_person(user)
    return one_time.issue_link(BADGE, person, person.email_key)


def log_in(badge, client):
    person, issued = one_time.find_link(BADGE, badge)

    def use(present):
        return present if one_time.consume_locked(BADGE, present, issued) else None

    outcome = login.enter(person, client, method="badge", proofs=("hwk",), change=use)
    if not (outcome.tokens or outcome.challenges):
        raise errors.InvalidLink
    return outcome
