"""Limits that must hold exactly do so for concurrent requests."""

from functools import partial

import pytest

from authservice.core.models import Account
from tests.races.crowd import SIZE, tally
from tests.support.client import PASSWORD
from tests.support.flows import NEW

# All requests come from one address; the general rate limit for it is not tested here.
LIMITED = {"ENABLED": True, "RATES": {"default": "1000000/min"}}


TARGETS = pytest.mark.parametrize(
    ("path", "target"),
    [
        ("forgot-password", lambda number: {"email": f"ann{number}@example.com"}),
        ("send-verification-phone", lambda number: {"phone": f"+493012345{number}"}),
    ],
    ids=["mail", "sms"],
)


def request(api, path, number, target):
    """From a new address in each round, since SMS to all numbers are counted together."""
    return partial(api.request, "POST", path, target(number), REMOTE_ADDR=f"192.0.2.{number}")


@TARGETS
def test_concurrent_requests_send_at_most_three_messages(
    crowd, api, rounds, post, configure, path, target
):
    configure(THROTTLE=LIMITED)
    for number in rounds:
        post.jobs.clear()

        answers = crowd.all_do(request(api, path, number, target))

        assert tally(answers) == {200: SIZE}
        assert len(post.jobs) <= 3


@TARGETS
def test_concurrent_requests_send_all_three_messages(
    crowd, api, rounds, post, configure, path, target
):
    configure(THROTTLE=LIMITED)
    sent = []
    for number in rounds:
        post.jobs.clear()
        crowd.all_do(request(api, path, number, target))
        sent.append(len(post.jobs))

    assert sent == [3] * len(rounds)


def test_concurrent_requests_of_unknown_clients_send_thirty_one_emails(
    crowd, api, rounds, post, configure
):
    configure(THROTTLE=LIMITED)
    for number in rounds:
        post.jobs.clear()
        body = {"email": f"ann{number}@example.com"}

        crowd.race(
            partial(api.request, "POST", "forgot-password", body, REMOTE_ADDR=f"192.0.2.{client}")
            for client in range(SIZE)
        )

        # Thirty, and the last e-mail of the day.
        assert len(post.jobs) == 31


def test_concurrent_wrong_old_passwords_count_ten_attempts(crowd, api, rounds, hashes):
    for number in rounds:
        token = api.sign_up(f"ann{number}@example.com")["access_token"]
        body = {"old_password": "not " + PASSWORD, "new_password": NEW}
        hashes.clear()

        answers = crowd.all_do(partial(api.request, "PUT", "change-password", body, token=token))

        assert tally(answers) == {"INVALID_CREDENTIALS": 10, "TOO_MANY_ATTEMPTS": SIZE - 10}
        assert len(hashes) == 10


def test_number_set_concurrently_by_many_users_is_nobodys_until_verified(crowd, api, rounds):
    tokens = [api.sign_up(f"ann{user}@example.com")["access_token"] for user in range(SIZE)]
    for number in rounds:
        body = {"phone": f"+493012345{number}"}

        answers = crowd.race(
            partial(api.request, "PUT", "profile", body, token=token) for token in tokens
        )

        assert tally(answers) == {200: SIZE}
        rows = Account.objects.filter(phone_number=body["phone"])
        assert rows.filter(verified_phone_key=None).count() == SIZE
