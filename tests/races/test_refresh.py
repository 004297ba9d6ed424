"""A refresh token has one successor, and a session with a reused token is revoked."""

from functools import partial

from authservice import signals
from tests.races.crowd import SIZE, tally


def refresh(api, token):
    return partial(api.post, "refresh", refresh_token=token)


def fresh(api, number):
    return api.sign_up(f"ann{number}@example.com")


def test_one_of_many_parallel_refreshes_of_a_token_succeeds(crowd, api, rounds):
    for number in rounds:
        answers = crowd.all_do(refresh(api, fresh(api, number)["refresh_token"]))

        assert tally(answers) == {200: 1, "INVALID_REFRESH_TOKEN": SIZE - 1}


def test_successor_of_parallel_refreshes_can_be_refreshed(crowd, api, rounds):
    for number in rounds:
        answers = crowd.all_do(refresh(api, fresh(api, number)["refresh_token"]))
        [won] = [answer.data for answer in answers if answer.status == 200]

        assert refresh(api, won["refresh_token"])().status == 200


def test_parallel_refreshes_within_the_grace_get_the_same_successor(crowd, api, rounds, configure):
    configure(REFRESH_GRACE=30)
    for number in rounds:
        answers = crowd.all_do(refresh(api, fresh(api, number)["refresh_token"]))

        assert tally(answers) == {200: SIZE}
        assert len({answer.data["refresh_token"] for answer in answers}) == 1


def test_refresh_during_a_logout_leaves_no_valid_token(crowd, api, rounds):
    for number in rounds:
        tokens = fresh(api, number)
        log_out = partial(api.post, "logout", token=tokens["access_token"])
        half = SIZE // 2
        answers = crowd.race([refresh(api, tokens["refresh_token"]), log_out] * half)
        won = [answer.data for answer in answers[::2] if answer.status == 200]

        for left in [tokens, *won]:
            assert refresh(api, left["refresh_token"])().code == "INVALID_REFRESH_TOKEN"
            assert api.get("me", token=left["access_token"]).code == "INVALID_TOKEN"


def test_parallel_refreshes_without_rotation_keep_the_token(crowd, api, rounds, configure):
    configure(REFRESH_TOKEN_ROTATION=False)
    for number in rounds:
        token = fresh(api, number)["refresh_token"]

        answers = crowd.all_do(refresh(api, token))

        assert [answer.data["refresh_token"] for answer in answers] == [token] * SIZE


def test_session_is_revoked_once_by_parallel_logouts(crowd, api, rounds, received):
    left = received(signals.logged_out)
    for number in rounds:
        left.clear()

        crowd.all_do(partial(api.post, "logout", token=fresh(api, number)["access_token"]))

        assert len(left) == 1


def test_session_is_revoked_once_by_parallel_reuse_of_a_token(crowd, api, rounds, received):
    detected = received(signals.token_reuse_detected)
    for number in rounds:
        detected.clear()
        eldest = fresh(api, number)["refresh_token"]
        parent = refresh(api, eldest)().data["refresh_token"]
        live = refresh(api, parent)().data["refresh_token"]

        answers = crowd.all_do(refresh(api, eldest))

        assert tally(answers) == {"INVALID_REFRESH_TOKEN": SIZE}
        assert refresh(api, live)().code == "INVALID_REFRESH_TOKEN"
        assert len(detected) == 1


def test_token_reuse_during_a_refresh_leaves_no_valid_token(crowd, api, rounds):
    for number in rounds:
        eldest = fresh(api, number)["refresh_token"]
        parent = refresh(api, eldest)().data["refresh_token"]
        live = refresh(api, parent)().data["refresh_token"]

        answers = crowd.race([refresh(api, eldest), refresh(api, live)] * (SIZE // 2))
        won = [answer.data["refresh_token"] for answer in answers if answer.status == 200]

        for left in [live, *won]:
            assert refresh(api, left)().code == "INVALID_REFRESH_TOKEN"
