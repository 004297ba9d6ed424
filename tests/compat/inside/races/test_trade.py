"""A token of simplejwt is traded once, whatever else happens at the same time."""

from functools import partial

import pytest
from django.db import transaction
from rest_framework_simplejwt.token_blacklist.models import BlacklistedToken
from rest_framework_simplejwt.tokens import RefreshToken

from authservice import signals
from authservice.core.credentials import passwords
from authservice.core.models import Session
from authservice.core.sessions import sessions
from authservice.core.users import lookup
from authservice.kernel.databases import retry_on_deadlock
from tests.compat.inside.old import THEIRS, OldClient
from tests.races.crowd import SIZE, tally
from tests.support.people import make_user

LOST = "INVALID_REFRESH_TOKEN"


@pytest.fixture(autouse=True)
def _trading(_no_floods, trades):
    """Trades are on, without rate limits."""


def trade(api, token):
    return partial(api.post, "refresh", refresh_token=str(token))


def fresh(number):
    user = make_user(f"ann{number}@example.com")
    lookup.get_person(user)
    return user, RefreshToken.for_user(user)


def end(user):
    """Ends all sessions, as a reset of the password does."""
    with transaction.atomic():
        passwords.lock_users([user.pk])
        sessions.end_all(lookup.get_person(user), sessions.RESET)


def test_one_of_many_parallel_trades_of_a_token_starts_a_session(crowd, api, rounds, received):
    detected = received(signals.token_reuse_detected)
    for number in rounds:
        user, token = fresh(number)

        answers = crowd.all_do(trade(api, token))

        assert tally(answers) == {200: 1, LOST: SIZE - 1}
        assert Session.objects.filter(user=user, ended_at=None).count() == 1
        assert BlacklistedToken.objects.filter(token__user=user).count() == 1
    assert detected == []


def test_token_is_either_traded_or_rotated_by_simplejwt(crowd, api, rounds):
    for number in rounds:
        user, token = fresh(number)
        rotate = partial(OldClient(THEIRS).refresh, str(token))

        half = SIZE // 2
        answers = crowd.race([trade(api, token), rotate] * half)

        traded = [answer for answer in answers[::2] if answer.status == 200]
        assert len(traded) == Session.objects.filter(user=user).count() <= 1
        assert trade(api, token)().code == LOST


def test_trade_during_the_end_of_all_sessions_leaves_no_valid_token(crowd, api, rounds):
    for number in rounds:
        user, token = fresh(number)

        answers = crowd.race(
            [trade(api, token)] * (SIZE - 1) + [partial(retry_on_deadlock, partial(end, user))]
        )
        won = [answer.data for answer in answers[:-1] if answer.status == 200]

        assert trade(api, token)().code == LOST
        for data in won:
            assert trade(api, data["refresh_token"])().code == LOST
