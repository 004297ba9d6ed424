"""Only a wrong old password counts as an attempt, and a refusal names the right field."""

import pytest

from tests.support.client import PASSWORD

pytestmark = pytest.mark.django_db

NEW = "another plum tart 42"


@pytest.fixture
def change(api):
    token = api.sign_up()["access_token"]

    def change(old, new):
        body = {"old_password": old, "new_password": new}
        return api.request("PUT", "change-password", body, token=token)

    return change


def test_wrong_old_password_is_refused_as_throttled_after_ten_attempts(change):
    errors = [change("wrong", NEW).error for _ in range(11)]

    assert errors == [(401, "INVALID_CREDENTIALS")] * 10 + [(429, "TOO_MANY_ATTEMPTS")]


@pytest.mark.parametrize("new", ["short", PASSWORD])
def test_right_old_password_does_not_count_if_the_new_one_is_refused(change, new):
    for _ in range(10):
        change(PASSWORD, new)

    assert change(PASSWORD, NEW).status == 200


@pytest.mark.parametrize("new", ["short", PASSWORD])
def test_refused_new_password_is_reported_with_the_name_of_its_field(change, new):
    answer = change(PASSWORD, new)

    assert answer.error == (400, "INVALID_PASSWORD")
    assert answer.data["message"].startswith("new_password: ")
