"""Concurrent clicks: a reset link works once; a verification link succeeds each time, acts once."""

from functools import partial

from authservice.core.messages import kinds
from tests.races.crowd import SIZE, tally
from tests.support.flows import verify_path


def test_reset_link_used_concurrently_works_once(crowd, api, rounds, flows):
    for number in rounds:
        email = f"ann{number}@example.com"
        api.sign_up(email)
        token = flows.reset_token(email)
        passwords = [f"fig biscuit {client} lanterns" for client in range(SIZE)]

        answers = crowd.race(
            partial(flows.reset, token, email=email, new_password=password)
            for password in passwords
        )
        won = [
            word for word, answer in zip(passwords, answers, strict=True) if answer.status == 200
        ]

        assert tally(answers) == {200: 1, "INVALID_TOKEN": SIZE - 1}
        assert api.post("login", email=email, password=won[0]).status == 200


def test_reset_link_used_concurrently_notifies_the_owner_once(crowd, api, rounds, flows, post):
    for number in rounds:
        email = f"ann{number}@example.com"
        api.sign_up(email)
        token = flows.reset_token(email)
        post.jobs.clear()

        crowd.all_do(partial(flows.reset, token, email=email))

        assert post.kinds() == [kinds.PASSWORD_CHANGED]


def test_verification_link_used_concurrently_succeeds_for_all_and_acts_once(
    crowd, api, rounds, flows, post
):
    for number in rounds:
        email = f"ann{number}@example.com"
        api.sign_up(email)
        token = post.token(kinds.VERIFY_EMAIL)
        post.jobs.clear()

        answers = crowd.all_do(partial(api.get, verify_path(token, email)))

        assert tally(answers) == {200: SIZE}
        assert post.kinds() == [kinds.WELCOME]
