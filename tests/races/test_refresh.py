"""A refresh token has one successor, and a family that a thief shares has an end."""

from functools import partial

from authservice import signals
from tests.races.crowd import SIZE, tally


def refresh(api, token):
    return partial(api.post, "refresh", refresh_token=token)


def fresh(api, number):
    return api.sign_up(f"ann{number}@example.com")


def test_one_of_many_refreshes_of_a_token_wins(crowd, api, rounds):
    for number in rounds:
        answers = crowd.all_do(refresh(api, fresh(api, number)["refresh_token"]))

        assert tally(answers) == {200: 1, "INVALID_REFRESH_TOKEN": SIZE - 1}


def test_the_winner_of_a_race_goes_on_refreshing(crowd, api, rounds):
    for number in rounds:
        answers = crowd.all_do(refresh(api, fresh(api, number)["refresh_token"]))
        [won] = [answer.data for answer in answers if answer.status == 200]

        assert refresh(api, won["refresh_token"])().status == 200


def test_within_the_grace_all_get_the_same_successor(crowd, api, rounds, configure):
    configure(REFRESH_GRACE=30)
    for number in rounds:
        answers = crowd.all_do(refresh(api, fresh(api, number)["refresh_token"]))

        assert tally(answers) == {200: SIZE}
        assert len({answer.data["refresh_token"] for answer in answers}) == 1


def test_a_refresh_that_crosses_a_logout_leaves_nothing_alive(crowd, api, rounds):
    for number in rounds:
        tokens = fresh(api, number)
        leave = partial(api.post, "logout", token=tokens["access_token"])
        half = SIZE // 2
        answers = crowd.race([refresh(api, tokens["refresh_token"]), leave] * half)
        won = [answer.data for answer in answers[::2] if answer.status == 200]

        for left in [tokens, *won]:
            assert refresh(api, left["refresh_token"])().code == "INVALID_REFRESH_TOKEN"
            assert api.get("me", token=left["access_token"]).code == "INVALID_TOKEN"


def test_without_rotation_all_keep_their_token(crowd, api, rounds, configure):
    configure(REFRESH_TOKEN_ROTATION=False)
    for number in rounds:
        token = fresh(api, number)["refresh_token"]

        answers = crowd.all_do(refresh(api, token))

        assert [answer.data["refresh_token"] for answer in answers] == [token] * SIZE


def test_a_sign_in_ends_once_however_often_it_is_left(crowd, api, rounds, heard):
    left = heard(signals.signed_out)
    for number in rounds:
        left.clear()

        crowd.all_do(partial(api.post, "logout", token=fresh(api, number)["access_token"]))

        assert len(left) == 1


def test_a_stolen_family_ends_once_however_often_it_is_replayed(crowd, api, rounds, heard):
    detected = heard(signals.token_reuse_detected)
    for number in rounds:
        detected.clear()
        eldest = fresh(api, number)["refresh_token"]
        parent = refresh(api, eldest)().data["refresh_token"]
        live = refresh(api, parent)().data["refresh_token"]

        answers = crowd.all_do(refresh(api, eldest))

        assert tally(answers) == {"INVALID_REFRESH_TOKEN": SIZE}
        assert refresh(api, live)().code == "INVALID_REFRESH_TOKEN"
        assert len(detected) == 1


def test_a_replay_that_crosses_a_refresh_leaves_nothing_alive(crowd, api, rounds):
    for number in rounds:
        eldest = fresh(api, number)["refresh_token"]
        parent = refresh(api, eldest)().data["refresh_token"]
        live = refresh(api, parent)().data["refresh_token"]

        answers = crowd.race([refresh(api, eldest), refresh(api, live)] * (SIZE // 2))
        won = [answer.data["refresh_token"] for answer in answers if answer.status == 200]

        for left in [live, *won]:
            assert refresh(api, left)().code == "INVALID_REFRESH_TOKEN"
