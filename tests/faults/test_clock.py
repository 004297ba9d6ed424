"""The clock of the machine is wrong for a while, and is corrected."""

import pytest
from django.core.management import call_command

from authservice.core.models import Session
from tests.support.client import PASSWORD

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
MINUTES, YEAR = {"minutes": 5}, {"days": 365}


def lock_out(api):
    for _ in range(20):
        answer = api.post("login", email="ann@example.com", password="wrong")
    assert answer.status == 429


@pytest.mark.parametrize("ahead", [MINUTES, YEAR], ids=["minutes", "year"])
@pytest.mark.parametrize("sign", [1, -1], ids=["ahead", "behind"])
def test_lockout_from_a_wrong_clock_ends_in_time(api, clock, ahead, sign):
    api.sign_up()
    clock.forward(**{unit: sign * count for unit, count in ahead.items()})
    lock_out(api)

    clock.forward(**{unit: -sign * count for unit, count in ahead.items()})
    call_command("authservice_cleanup", verbosity=0)
    clock.forward(hours=2)

    api.log_in()


@pytest.mark.parametrize("away", [MINUTES, YEAR], ids=["minutes", "year"])
@pytest.mark.parametrize("sign", [1, -1], ids=["ahead", "behind"])
def test_session_survives_a_wrong_clock(api, clock, away, sign):
    tokens = api.sign_up()
    clock.forward(**{unit: sign * count for unit, count in away.items()})
    api.get("me", token=tokens["access_token"])

    clock.forward(**{unit: -sign * count for unit, count in away.items()})

    assert api.get("me", token=tokens["access_token"]).status == 200
    assert api.post("refresh", refresh_token=tokens["refresh_token"]).status == 200


@pytest.mark.parametrize("away", [MINUTES, YEAR], ids=["minutes", "year"])
@pytest.mark.parametrize("sign", [1, -1], ids=["ahead", "behind"])
def test_session_that_ended_under_a_wrong_clock_stays_ended(api, clock, away, sign):
    tokens = api.sign_up()
    clock.forward(**{unit: sign * count for unit, count in away.items()})
    fresh = api.log_in()
    assert api.post("logout", token=fresh["access_token"]).status == 200
    clock.forward(**{unit: -sign * count for unit, count in away.items()})

    assert api.get("me", token=fresh["access_token"]).status == 401
    assert api.post("refresh", refresh_token=fresh["refresh_token"]).status == 401
    assert api.get("me", token=tokens["access_token"]).status == 200
    assert Session.objects.filter(ended_at=None).count() == 1


@pytest.mark.parametrize("away", [MINUTES, YEAR], ids=["minutes", "year"])
def test_session_from_the_future_can_be_refreshed_and_reuse_is_detected(api, clock, away):
    clock.forward(**away)
    tokens = api.sign_up()
    clock.forward(**{unit: -count for unit, count in away.items()})

    refreshed = api.post("refresh", refresh_token=tokens["refresh_token"])
    assert refreshed.status == 200
    clock.forward(minutes=1)
    assert api.post("refresh", refresh_token=tokens["refresh_token"]).status == 401
    assert api.post("refresh", refresh_token=refreshed.data["refresh_token"]).status == 401
    assert api.post("login", email="ann@example.com", password=PASSWORD).status == 200
