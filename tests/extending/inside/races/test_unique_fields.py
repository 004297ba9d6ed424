"""Concurrent sign-ups and changes with one value of a unique extra field."""

from functools import partial

import pytest

from tests.extending.inside.conftest import ANN
from tests.extending.people.models import User
from tests.races.crowd import SIZE, tally

pytestmark = pytest.mark.django_db(transaction=True)


def test_parallel_signups_with_one_unique_value_create_one_account(use, crowd, api, rounds):
    use("Badge")
    for number in rounds:
        answers = crowd.race(
            partial(
                api.post, "signup", **{**ANN, "email": f"{place}@{number}.com"}, badge=f"A{number}"
            )
            for place in range(SIZE)
        )

        assert tally(answers) == {201: 1, "VALIDATION_ERROR": SIZE - 1}
        assert User.objects.count() == number + 1


def test_parallel_changes_to_one_unique_value_succeed_once(use, crowd, api, rounds):
    use("Badge")
    tokens = [
        api.post("signup", **{**ANN, "email": f"{place}@example.com"}).data["access_token"]
        for place in range(SIZE)
    ]
    for number in rounds:
        answers = crowd.race(
            partial(api.request, "PUT", "profile", {"badge": f"A{number}"}, token=token)
            for token in tokens
        )

        assert tally(answers) == {200: 1, "VALIDATION_ERROR": SIZE - 1}
