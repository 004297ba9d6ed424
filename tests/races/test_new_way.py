"""A new way to log in: what works once does so among 32 clients at once."""

from functools import partial

from authservice.core import errors
from authservice.core.models import Session
from authservice.kernel.client import Client
from authservice.kernel.databases import retry_on_deadlock
from tests.core.login import badges
from tests.races.crowd import SIZE
from tests.support.people import make_user


def log_in(badge):
    try:
        return retry_on_deadlock(partial(badges.log_in, badge, Client()))
    except errors.InvalidLink:
        return None


def test_badge_logs_in_once(crowd, rounds):
    for number in rounds:
        user = make_user(f"ann{number}@example.com")

        outcomes = crowd.all_do(partial(log_in, badges.issue(user)))

        assert [bool(outcome) for outcome in outcomes].count(True) == 1
        assert len(outcomes) == SIZE
        assert Session.objects.filter(user=user).count() == 1
