"""An address and a name belong to one account, whoever asks at the same instant."""

from functools import partial

from django.contrib.auth import get_user_model

from authservice.core.models import Account
from tests.client import PASSWORD
from tests.races.crowd import SIZE, tally


def sign_up(api, **who):
    return partial(api.post, "signup", password=PASSWORD, **who)


def cases(text):
    """`SIZE` spellings of `text` that differ in case alone."""
    return [
        "".join(c.upper() if number >> place & 1 else c for place, c in enumerate(text))
        for number in range(SIZE)
    ]


def test_an_address_is_taken_once_whatever_its_case(crowd, api, rounds):
    for number in rounds:
        spellings = cases(f"annabel{number}@example.com")

        answers = crowd.race(sign_up(api, email=spelling) for spelling in spellings)

        assert tally(answers) == {201: 1, "USER_ALREADY_EXISTS": SIZE - 1}


def test_a_lost_race_for_an_address_leaves_no_rows(crowd, api, rounds):
    for number in rounds:
        crowd.race(sign_up(api, email=e) for e in cases(f"annabel{number}@example.com"))

        assert get_user_model().objects.count() == number + 1
        assert Account.objects.count() == number + 1


def test_a_username_is_taken_once_whatever_its_case(crowd, api, rounds):
    for number in rounds:
        spellings = cases(f"annabel{number}")

        answers = crowd.race(
            sign_up(api, email=f"{place}@{number}.example.com", username=spelling)
            for place, spelling in enumerate(spellings)
        )

        assert tally(answers) == {201: 1, "USERNAME_ALREADY_EXISTS": SIZE - 1}


def test_a_phone_number_is_taken_once(crowd, api, rounds):
    for number in rounds:
        answers = crowd.race(
            sign_up(api, email=f"{place}@{number}.example.com", phone_number=f"+493012345{number}")
            for place in range(SIZE)
        )

        assert tally(answers) == {201: 1, "PHONE_ALREADY_IN_USE": SIZE - 1}


def test_namesakes_of_different_domains_all_get_an_account(crowd, api, rounds):
    for number in rounds:
        answers = crowd.race(
            sign_up(api, email=f"annabel{number}@{place}.example.com") for place in range(SIZE)
        )

        assert tally(answers) == {201: SIZE}
        assert len({answer.data["user"]["username"].casefold() for answer in answers}) == SIZE
