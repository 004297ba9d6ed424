"""A free username goes to one account."""

from functools import partial

import pytest

from authservice.core.models import Account
from authservice.core.users import identifier_change, identifiers
from tests.core.own_account.owner import Owner
from tests.races.crowd import SIZE, synchronise, tally
from tests.support.client import PASSWORD

TAKEN = "USERNAME_ALREADY_EXISTS"
USERS = 4  # of a crowd, each with an equal share of the requests


@pytest.fixture
def owners(api, crowd):
    people = [api.sign_up(f"ann{number}@example.com") for number in range(USERS)]
    return [Owner(api, one["access_token"], one["user"]["id"]) for one in people]


def holders(username):
    return Account.objects.filter(username_claim=identifiers.username_key(username)).count()


def test_free_username_that_several_users_choose_goes_to_one(crowd, rounds, owners):
    for number in rounds:
        wanted = f"anna{number}"

        answers = crowd.race([partial(one.rename, wanted) for one in owners] * (SIZE // USERS))

        # The winner may choose it again.
        assert tally(answers) == {200: SIZE // USERS, TAKEN: SIZE - SIZE // USERS}
        assert [one.me()["username"] for one in owners].count(wanted) == 1
        assert holders(wanted) == 1


def test_username_that_two_users_found_free_goes_to_one(crowd, owners, monkeypatch):
    # Both have passed the check, and neither has stored it.
    synchronise(monkeypatch, (identifier_change, "_copies"))

    answers = crowd.race([partial(one.rename, "anna") for one in owners[:2]])

    assert tally(answers) == {200: 1, TAKEN: 1}
    assert holders("anna") == 1


def test_free_username_goes_to_a_signup_or_to_the_change(crowd, api, rounds, owners):
    for number in rounds:
        wanted = f"anna{number}"
        sign_ups = [
            partial(
                api.post,
                "signup",
                email=f"eve{number}-{place}@example.com",
                password=PASSWORD,
                username=wanted,
            )
            for place in range(SIZE // 4)
        ]

        answers = crowd.race([partial(owners[0].rename, wanted), *sign_ups])

        assert len([answer for answer in answers if answer.status < 300]) == 1
        assert tally(answers)[TAKEN] == SIZE // 4
        assert holders(wanted) == 1
