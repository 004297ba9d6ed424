"""Concurrent sign-ups: an address, a username and a number belong to one account."""

from functools import partial

from django.contrib.auth import get_user_model

from authservice.core.models import Account
from tests.races.crowd import SIZE, tally
from tests.support.client import PASSWORD


def sign_up(api, **fields):
    return partial(api.post, "signup", password=PASSWORD, **fields)


def cases(text):
    """`SIZE` variants of `text` that differ in case alone."""
    return [
        "".join(c.upper() if number >> place & 1 else c for place, c in enumerate(text))
        for number in range(SIZE)
    ]


def test_parallel_signups_with_one_address_in_any_case_create_one_account(crowd, api, rounds):
    for number in rounds:
        variants = cases(f"annabel{number}@example.com")

        answers = crowd.race(sign_up(api, email=variant) for variant in variants)

        assert tally(answers) == {201: 1, "USER_ALREADY_EXISTS": SIZE - 1}


def test_refused_parallel_signup_leaves_no_rows(crowd, api, rounds):
    for number in rounds:
        crowd.race(sign_up(api, email=e) for e in cases(f"annabel{number}@example.com"))

        assert get_user_model().objects.count() == number + 1
        assert Account.objects.count() == number + 1


def test_parallel_signups_with_one_username_in_any_case_create_one_account(crowd, api, rounds):
    for number in rounds:
        variants = cases(f"annabel{number}")

        answers = crowd.race(
            sign_up(api, email=f"{place}@{number}.example.com", username=variant)
            for place, variant in enumerate(variants)
        )

        assert tally(answers) == {201: 1, "USERNAME_ALREADY_EXISTS": SIZE - 1}


def test_parallel_signups_with_one_number_that_nobody_has_verified_succeed(crowd, api, rounds):
    for number in rounds:
        answers = crowd.race(
            sign_up(api, email=f"{place}@{number}.example.com", phone_number=f"+493012345{number}")
            for place in range(SIZE)
        )

        assert tally(answers) == {201: SIZE}
        assert not Account.objects.exclude(verified_phone_key=None).exists()


def test_parallel_signups_with_one_local_part_get_different_usernames(crowd, api, rounds):
    for number in rounds:
        answers = crowd.race(
            sign_up(api, email=f"annabel{number}@{place}.example.com") for place in range(SIZE)
        )

        assert tally(answers) == {201: SIZE}
        assert len({answer.data["user"]["username"].casefold() for answer in answers}) == SIZE
