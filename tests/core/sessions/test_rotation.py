"""Refreshing: one successor per token, and a replay is a tab, a retry or a theft."""

import pytest

from authservice import signals
from authservice.core.models import Session

pytestmark = pytest.mark.django_db

REFUSED = (401, "INVALID_REFRESH_TOKEN")


@pytest.fixture
def family(api):
    """Refresh tokens of one sign-in, oldest first: `family(3)` has been refreshed twice."""

    def family(length):
        tokens = [api.sign_up()]
        while len(tokens) < length:
            answer = api.post("refresh", refresh_token=tokens[-1]["refresh_token"])
            tokens.append(answer.data)
        return tokens

    return family


def refresh(api, tokens):
    return api.post("refresh", refresh_token=tokens["refresh_token"])


def alive(api, tokens):
    return refresh(api, tokens).status == 200


def test_a_refresh_gives_another_refresh_token(family):
    first, second = family(2)

    assert first["refresh_token"] != second["refresh_token"]


def test_a_refresh_gives_another_access_token_of_the_same_sign_in(api, family):
    first, second = family(2)

    assert first["access_token"] != second["access_token"]
    assert Session.objects.count() == 1
    assert api.get("me", token=second["access_token"]).status == 200


def test_a_successor_can_be_refreshed_in_turn(api, family):
    assert alive(api, family(4)[-1])


def test_an_access_token_outlives_the_refresh_of_its_sign_in(api, family):
    assert api.get("me", token=family(2)[0]["access_token"]).status == 200


def test_a_spent_token_is_refused_at_once(api, family):
    assert refresh(api, family(2)[0]).error == REFUSED


@pytest.mark.parametrize("seconds", [0, 9, 10])
def test_a_replay_of_the_parent_within_the_leeway_harms_nobody(api, clock, family, seconds):
    first, second = family(2)
    clock.forward(seconds=seconds)

    assert refresh(api, first).error == REFUSED
    assert alive(api, second)


def test_many_replays_of_the_parent_within_the_leeway_harm_nobody(api, clock, family):
    first, second = family(2)

    for _ in range(5):
        refresh(api, first)

    assert alive(api, second)


def test_a_replay_of_the_parent_after_the_leeway_is_theft(api, clock, family):
    first, second = family(2)
    clock.forward(seconds=10, milliseconds=1)

    assert refresh(api, first).error == REFUSED
    assert not alive(api, second)


def test_a_replay_of_the_grandparent_is_theft_at_once(api, clock, family):
    first, _, third = family(3)

    assert refresh(api, first).error == REFUSED
    assert not alive(api, third)


def test_a_theft_kills_every_access_token_of_the_family(api, clock, family):
    tokens = family(3)

    refresh(api, tokens[0])

    errors = [api.get("me", token=one["access_token"]).error for one in tokens]
    assert errors == [(401, "INVALID_TOKEN")] * 3


def test_a_theft_leaves_other_sign_ins_alone(api, family):
    tokens = family(3)
    other = api.log_in()

    refresh(api, tokens[0])

    assert alive(api, other)


def test_a_theft_is_told_once(api, family, heard, django_capture_on_commit_callbacks):
    tokens = family(3)
    events = heard(signals.token_reuse_detected)

    with django_capture_on_commit_callbacks(execute=True):
        for _ in range(3):
            refresh(api, tokens[0])

    assert [(event.action, event.severity) for event in events] == [
        ("auth.token.reuse_detected", "critical")
    ]


def test_a_replay_within_the_leeway_is_not_told(
    api, clock, family, heard, django_capture_on_commit_callbacks
):
    tokens = family(2)
    events = heard(signals.token_reuse_detected)

    with django_capture_on_commit_callbacks(execute=True):
        refresh(api, tokens[0])

    assert events == []


def test_a_refresh_is_told(api, family, heard, django_capture_on_commit_callbacks):
    events = heard(signals.tokens_refreshed)

    with django_capture_on_commit_callbacks(execute=True):
        family(2)

    assert len(events) == 1


def test_the_leeway_can_be_none(api, clock, configure, family):
    configure(REUSE_LEEWAY=0)
    first, second = family(2)
    clock.forward(milliseconds=1)

    refresh(api, first)

    assert not alive(api, second)


def test_after_a_logout_a_replay_is_only_refused(api, family, heard):
    tokens = family(3)
    api.post("logout", token=tokens[-1]["access_token"])
    events = heard(signals.token_reuse_detected)

    assert refresh(api, tokens[0]).error == REFUSED
    assert events == []
    assert Session.objects.get().end_reason == "logout"


class TestGrace:
    """Where a host's clients lose answers, the parent gets the very same successor for a while."""

    @pytest.fixture(autouse=True)
    def _grace(self, configure, clock):
        configure(REFRESH_GRACE=5)

    @pytest.mark.parametrize("seconds", [0, 5])
    def test_inside_it_the_parent_gets_the_same_successor(self, api, clock, family, seconds):
        first, second = family(2)
        clock.forward(seconds=seconds)

        again = refresh(api, first)

        assert again.status == 200
        assert again.data["refresh_token"] == second["refresh_token"]

    def test_that_successor_is_alive(self, api, family):
        first, second = family(2)
        refresh(api, first)

        assert alive(api, second)

    def test_the_access_token_beside_it_is_good(self, api, family):
        answer = refresh(api, family(2)[0])

        assert api.get("me", token=answer.data["access_token"]).status == 200

    def test_after_it_but_within_the_leeway_the_parent_is_refused(self, api, clock, family):
        first, second = family(2)
        clock.forward(seconds=6)

        assert refresh(api, first).error == REFUSED
        assert alive(api, second)

    def test_the_grandparent_is_theft(self, api, family):
        first, _, third = family(3)

        assert refresh(api, first).error == REFUSED
        assert not alive(api, third)

    def test_a_replay_inside_it_does_not_lengthen_it(self, api, clock, family):
        first, _ = family(2)
        clock.forward(seconds=4)
        refresh(api, first)
        clock.forward(seconds=4)

        assert refresh(api, first).error == REFUSED


class TestWithoutRotation:
    @pytest.fixture(autouse=True)
    def _off(self, configure):
        configure(REFRESH_TOKEN_ROTATION=False)

    def test_the_same_token_is_handed_back(self, family):
        first, second = family(2)

        assert first["refresh_token"] == second["refresh_token"]

    def test_it_stays_valid(self, api, clock, family):
        first, *_ = family(2)
        clock.forward(hours=1)

        assert alive(api, first)

    def test_a_logout_ends_it(self, api, family):
        first, second = family(2)
        api.post("logout", token=second["access_token"])

        assert refresh(api, first).error == REFUSED

    def test_tokens_spent_before_it_was_turned_off_stay_spent(self, api, configure, clock):
        configure(REFRESH_TOKEN_ROTATION=True)
        first = api.sign_up()
        refresh(api, first)
        configure(REFRESH_TOKEN_ROTATION=False)

        assert refresh(api, first).error == REFUSED

    def test_refreshes_do_not_renew_the_leeway_of_a_token_spent_before(self, api, configure, clock):
        configure(REFRESH_TOKEN_ROTATION=True)
        first = api.sign_up()
        second = refresh(api, first).data
        configure(REFRESH_TOKEN_ROTATION=False)
        clock.forward(seconds=11)
        assert alive(api, second)

        assert refresh(api, first).error == REFUSED
        assert not alive(api, second)
