"""Refresh: one successor per token; a reused token means a second tab, a retry or theft."""

import pytest

from authservice import signals
from authservice.core.models import Session

pytestmark = pytest.mark.django_db

REFUSED = (401, "INVALID_REFRESH_TOKEN")


@pytest.fixture
def family(api):
    """Refresh tokens of one session, oldest first: `family(3)` has been refreshed twice."""

    def family(length):
        tokens = [api.sign_up()]
        while len(tokens) < length:
            answer = api.post("refresh", refresh_token=tokens[-1]["refresh_token"])
            tokens.append(answer.data)
        return tokens

    return family


def refresh(api, tokens):
    return api.post("refresh", refresh_token=tokens["refresh_token"])


def is_valid(api, tokens):
    return refresh(api, tokens).status == 200


def test_refresh_returns_a_new_refresh_token(family):
    first, second = family(2)

    assert first["refresh_token"] != second["refresh_token"]


def test_refresh_returns_a_new_access_token_of_the_same_session(api, family):
    first, second = family(2)

    assert first["access_token"] != second["access_token"]
    assert Session.objects.count() == 1
    assert api.get("me", token=second["access_token"]).status == 200


def test_refresh_accepts_each_successor(api, family):
    assert is_valid(api, family(4)[-1])


def test_refresh_keeps_the_earlier_access_token_valid(api, family):
    assert api.get("me", token=family(2)[0]["access_token"]).status == 200


def test_refresh_token_reused_is_refused_at_once(api, family):
    assert refresh(api, family(2)[0]).error == REFUSED


@pytest.mark.parametrize("seconds", [0, 9, 10])
def test_refresh_token_reused_within_leeway_keeps_session(api, clock, family, seconds):
    clock.stand_still()  # exactly at the limit
    first, second = family(2)
    clock.forward(seconds=seconds)

    assert refresh(api, first).error == REFUSED
    assert is_valid(api, second)


def test_refresh_token_reused_often_within_leeway_keeps_session(api, clock, family):
    first, second = family(2)

    for _ in range(5):
        refresh(api, first)

    assert is_valid(api, second)


def test_reuse_is_detected_while_the_refreshes_of_the_session_are_limited(
    api, clock, configure, family
):
    """A thief who uses up the limit must not keep the session alive."""
    stolen, *_, newest = family(3)
    configure(THROTTLE={"RATES": {"refresh": "3/d"}})
    while (answer := refresh(api, newest)).status == 200:
        newest = answer.data
    assert answer.error == (429, "TOO_MANY_REQUESTS")
    clock.forward(seconds=11)

    assert refresh(api, stolen).error == REFUSED
    clock.forward(minutes=1)
    assert refresh(api, newest).error == REFUSED


def test_refresh_token_reused_after_leeway_revokes_session(api, clock, family):
    first, second = family(2)
    clock.forward(seconds=10, milliseconds=1)

    assert refresh(api, first).error == REFUSED
    assert not is_valid(api, second)


def test_refresh_token_two_generations_old_reused_revokes_session_at_once(api, clock, family):
    first, _, third = family(3)

    assert refresh(api, first).error == REFUSED
    assert not is_valid(api, third)


def test_refresh_token_reuse_revokes_every_access_token_of_the_session(api, clock, family):
    tokens = family(3)

    refresh(api, tokens[0])

    errors = [api.get("me", token=one["access_token"]).error for one in tokens]
    assert errors == [(401, "INVALID_TOKEN")] * 3


def test_refresh_token_reuse_keeps_other_sessions(api, family):
    tokens = family(3)
    other = api.log_in()

    refresh(api, tokens[0])

    assert is_valid(api, other)


def test_refresh_token_reuse_is_reported_once(api, family, received):
    tokens = family(3)
    events = received(signals.token_reuse_detected)

    for _ in range(3):
        refresh(api, tokens[0])

    assert [(event.action, event.severity) for event in events] == [
        ("auth.token.reuse_detected", "critical")
    ]


def test_refresh_token_reused_within_leeway_is_not_reported(api, clock, family, received):
    tokens = family(2)
    events = received(signals.token_reuse_detected)

    refresh(api, tokens[0])

    assert events == []


def test_refresh_sends_tokens_refreshed(api, family, received):
    events = received(signals.tokens_refreshed)

    family(2)

    assert len(events) == 1


def test_refresh_token_reused_without_leeway_revokes_session(api, clock, configure, family):
    configure(REUSE_LEEWAY=0)
    first, second = family(2)
    clock.forward(milliseconds=1)

    refresh(api, first)

    assert not is_valid(api, second)


def test_refresh_token_reused_after_logout_is_refused_and_not_reported(api, family, received):
    tokens = family(3)
    api.post("logout", token=tokens[-1]["access_token"])
    events = received(signals.token_reuse_detected)

    assert refresh(api, tokens[0]).error == REFUSED
    assert events == []
    assert Session.objects.get().end_reason == "logout"


class TestGrace:
    """For clients that lose responses, the parent token yields the same successor for a while."""

    @pytest.fixture(autouse=True)
    def _grace(self, configure, clock):
        configure(REFRESH_GRACE=5)

    @pytest.mark.parametrize("seconds", [0, 5])
    def test_parent_within_grace_gets_the_same_successor(self, api, clock, family, seconds):
        clock.stand_still()  # exactly at the limit
        first, second = family(2)
        clock.forward(seconds=seconds)

        again = refresh(api, first)

        assert again.status == 200
        assert again.data["refresh_token"] == second["refresh_token"]

    def test_successor_returned_again_within_grace_is_valid(self, api, family):
        first, second = family(2)
        refresh(api, first)

        assert is_valid(api, second)

    def test_access_token_returned_within_grace_is_valid(self, api, family):
        answer = refresh(api, family(2)[0])

        assert api.get("me", token=answer.data["access_token"]).status == 200

    def test_parent_after_grace_but_within_leeway_is_refused(self, api, clock, family):
        first, second = family(2)
        clock.forward(seconds=6)

        assert refresh(api, first).error == REFUSED
        assert is_valid(api, second)

    def test_grandparent_within_grace_revokes_session(self, api, family):
        first, _, third = family(3)

        assert refresh(api, first).error == REFUSED
        assert not is_valid(api, third)

    def test_grace_is_not_prolonged_by_a_reused_token(self, api, clock, family):
        first, _ = family(2)
        clock.forward(seconds=4)
        refresh(api, first)
        clock.forward(seconds=4)

        assert refresh(api, first).error == REFUSED


class TestWithoutRotation:
    @pytest.fixture(autouse=True)
    def _off(self, configure):
        configure(REFRESH_TOKEN_ROTATION=False)

    def test_refresh_without_rotation_returns_the_same_token(self, family):
        first, second = family(2)

        assert first["refresh_token"] == second["refresh_token"]

    def test_refresh_token_without_rotation_stays_valid(self, api, clock, family):
        first, *_ = family(2)
        clock.forward(hours=1)

        assert is_valid(api, first)

    def test_refresh_token_without_rotation_ends_at_logout(self, api, family):
        first, second = family(2)
        api.post("logout", token=second["access_token"])

        assert refresh(api, first).error == REFUSED

    def test_refresh_token_used_before_rotation_was_disabled_is_refused(
        self, api, configure, clock
    ):
        configure(REFRESH_TOKEN_ROTATION=True)
        first = api.sign_up()
        refresh(api, first)
        configure(REFRESH_TOKEN_ROTATION=False)

        assert refresh(api, first).error == REFUSED

    def test_refreshes_without_rotation_do_not_renew_the_leeway_of_a_used_token(
        self, api, configure, clock
    ):
        configure(REFRESH_TOKEN_ROTATION=True)
        first = api.sign_up()
        second = refresh(api, first).data
        configure(REFRESH_TOKEN_ROTATION=False)
        clock.forward(seconds=11)
        assert is_valid(api, second)

        assert refresh(api, first).error == REFUSED
        assert not is_valid(api, second)
