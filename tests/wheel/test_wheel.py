"""A project that had a thousand users before us keeps every one of them."""

import pytest

from tests.wheel.conftest import TWINS, USERS
from tests.wheel.projects import post

# What they start serves all of them, so one worker runs them.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheel")]
SAMPLE = range(TWINS, USERS - TWINS, 99)


def log_in(host, number, **who):
    return post(host.url + "login", password=f"old password {number}", **who)


def email(number):
    """The address that the project knows user `number` by; the last ones are twins of the first."""
    twin = number - (USERS - TWINS)
    return f"USER{twin}@example.com" if twin >= 0 else f"user{number}@example.com"


def natural(host, number):
    return {"username": f"user{number}"} if host.named else {"email": email(number)}


PAIRS = [*range(TWINS), *range(USERS - TWINS, USERS)]


def test_every_user_gets_an_account(host):
    assert f"{USERS} users: {USERS} accounts were created" in host.synced


def test_a_rehearsal_makes_none_and_says_the_same(host):
    assert f"{USERS} users: {USERS} accounts would be created" in host.rehearsed


def test_users_log_in_by_email_with_their_old_passwords(host):
    statuses = [log_in(host, number, email=email(number))[0] for number in SAMPLE]

    assert statuses == [200] * len(SAMPLE)


def test_the_case_of_an_address_does_not_matter(host):
    assert log_in(host, TWINS, email=email(TWINS).upper())[0] == 200


def test_a_wrong_password_opens_nothing(host):
    assert log_in(host, TWINS, email=email(TWINS + 1))[1]["code"] == "INVALID_CREDENTIALS"


def test_all_who_share_an_address_are_named(host):
    named = [line for line in host.synced.splitlines() if line.startswith("Contested email")]

    assert len(named) == TWINS
    assert [pk for pk in host.twins if pk not in " ".join(named)] == []


def test_all_who_share_an_address_log_in_by_what_the_project_knows_them_by(host):
    statuses = [log_in(host, number, **natural(host, number))[0] for number in PAIRS]

    assert statuses == [200] * len(PAIRS)


def test_an_address_that_names_nobody_for_certain_opens_nothing(host):
    assert log_in(host, 0, email="User0@Example.com")[1]["code"] == "INVALID_CREDENTIALS"


def test_the_slowest_hasher_in_use_is_named(host):
    assert "Slowest hasher: pbkdf2_sha256 iterations=1." in host.synced


def test_newcomers_sign_up_beside_them(host):
    status, _ = post(host.url + "signup", email="new@example.com", password="plum tart 42 windows")

    assert status == 201
