"""However many log in at once, nobody has more sessions than the limit."""

from functools import partial

import pytest
from django.contrib.auth.models import update_last_login
from django.contrib.auth.signals import user_logged_in

from authservice.core.login import login
from authservice.core.models import Session
from authservice.core.users import lookup
from authservice.kernel.client import Client
from tests.people import the_user
from tests.races.crowd import SIZE

MOST = 3


@pytest.fixture(autouse=True)
def _limited(settings, _no_floods):
    settings.AUTHSERVICE = {**settings.AUTHSERVICE, "SESSION": {"MAX_PER_USER": MOST}}


@pytest.fixture(params=[True, False], ids=["last_login written", "left alone"])
def receiver(request):
    """Django's receiver writes the user's row, which holds it; a host may have disconnected it."""
    if not request.param:
        user_logged_in.disconnect(dispatch_uid="update_last_login")
    yield
    user_logged_in.connect(update_last_login, dispatch_uid="update_last_login")


def arrive(email):
    """Through the door, past the limit on guesses, which lets no 32 passwords be tried at once."""
    person = lookup.find_by_email(email)
    return login.complete(person, Client(), method="test", proofs=("pwd",)).tokens


def live(email):
    return Session.objects.filter(user=the_user(email), ended_at=None)


def test_many_logins_at_once_leave_no_more_than_the_limit(crowd, api, rounds, receiver):
    for number in rounds:
        email = f"ann{number}@example.com"
        api.sign_up(email)

        begun = crowd.all_do(partial(arrive, email))

        assert live(email).count() == MOST
        opened = [api.get("me", token=tokens.access_token.reveal()).status for tokens in begun]
        assert opened.count(200) == MOST


def test_each_that_made_room_is_told_once(crowd, api, rounds, told):
    for number in rounds:
        email = f"ann{number}@example.com"
        api.sign_up(email)
        told.clear()

        crowd.all_do(partial(arrive, email))

        ended = [e.metadata["session"] for e in told if e.action == "security.session.revoked"]
        assert len(ended) == len(set(ended)) == SIZE + 1 - MOST
