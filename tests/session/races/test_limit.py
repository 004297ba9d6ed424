"""Concurrent logins never leave a user with more sessions than the limit."""

from functools import partial

import pytest
from django.contrib.auth.models import update_last_login
from django.contrib.auth.signals import user_logged_in

from authservice.core.login import login
from authservice.core.models import Session
from authservice.core.users import lookup
from authservice.kernel.client import Client
from authservice.kernel.databases import retry_on_deadlock
from tests.races.crowd import SIZE
from tests.support.people import the_user

MOST = 3


@pytest.fixture(autouse=True)
def _limited(settings, _no_floods):
    settings.AUTHSERVICE = {**settings.AUTHSERVICE, "SESSION": {"MAX_PER_USER": MOST}}


@pytest.fixture(params=[True, False], ids=["last_login written", "last_login not written"])
def receiver(request):
    """Django's receiver writes the user's row, which locks it; a host may have disconnected it."""
    if not request.param:
        user_logged_in.disconnect(dispatch_uid="update_last_login")
    yield
    user_logged_in.connect(update_last_login, dispatch_uid="update_last_login")


def complete_login(email):
    """Log in without a password: the lockout would refuse 32 attempts at once."""
    person = lookup.find_by_email(email)
    complete = partial(login.enter, person, Client(), method="test", proofs=("pwd",))
    return retry_on_deadlock(complete).tokens


def active(email):
    return Session.objects.filter(user=the_user(email), ended_at=None)


def test_concurrent_logins_leave_no_more_sessions_than_the_limit(crowd, api, rounds, receiver):
    for number in rounds:
        email = f"ann{number}@example.com"
        api.sign_up(email)

        begun = crowd.all_do(partial(complete_login, email))

        assert active(email).count() == MOST
        opened = [api.get("me", token=tokens.access_token.reveal()).status for tokens in begun]
        assert opened.count(200) == MOST


def test_session_ended_by_the_limit_is_recorded_once(crowd, api, rounds, events):
    for number in rounds:
        email = f"ann{number}@example.com"
        api.sign_up(email)
        events.clear()

        crowd.all_do(partial(complete_login, email))

        ended = [e.metadata["session"] for e in events if e.action == "security.session.revoked"]
        assert len(ended) == len(set(ended)) == SIZE + 1 - MOST
