"""A project with a thousand existing users can install authservice and keeps them all."""

import pytest

from tests.wheel.conftest import SHARING, USERS
from tests.wheel.projects import post

# All tests share the started servers, so one worker runs them.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheel")]
SAMPLE = range(SHARING, USERS - SHARING, 99)


def log_in(host, number, **identifier):
    return post(host.url + "login", password=f"old password {number}", **identifier)


def email(number):
    """The address of user `number`; the last users have those of the first in other case."""
    place = number - (USERS - SHARING)
    return f"USER{place}@example.com" if place >= 0 else f"user{number}@example.com"


def natural(host, number):
    return {"username": f"user{number}"} if host.named else {"email": email(number)}


PAIRS = [*range(SHARING), *range(USERS - SHARING, USERS)]


def test_sync_creates_an_account_for_every_existing_user(host):
    assert f"{USERS} users: {USERS} accounts were created" in host.synced


def test_sync_dry_run_reports_the_same_number_of_accounts(host):
    assert f"{USERS} users: {USERS} accounts would be created" in host.dry_run


def test_existing_users_log_in_by_email_with_their_old_passwords(host):
    statuses = [log_in(host, number, email=email(number))[0] for number in SAMPLE]

    assert statuses == [200] * len(SAMPLE)


def test_existing_user_logs_in_by_email_in_any_case(host):
    assert log_in(host, SHARING, email=email(SHARING).upper())[0] == 200


def test_existing_user_with_wrong_password_is_refused(host):
    assert log_in(host, SHARING, email=email(SHARING + 1))[1]["code"] == "INVALID_CREDENTIALS"


def test_sync_names_all_users_with_shared_address(host):
    named = [line for line in host.synced.splitlines() if line.startswith("Contested email")]

    assert len(named) == SHARING
    assert [pk for pk in host.sharing if pk not in " ".join(named)] == []


def test_users_with_shared_address_log_in_by_username_field(host):
    statuses = [log_in(host, number, **natural(host, number))[0] for number in PAIRS]

    assert statuses == [200] * len(PAIRS)


def test_login_with_shared_address_is_refused(host):
    assert log_in(host, 0, email="User0@Example.com")[1]["code"] == "INVALID_CREDENTIALS"


def test_sync_names_the_hasher_of_all_users_and_advises_nothing(host):
    """New passwords have the same hasher, so there is nothing to set."""
    assert "pbkdf2_sha256 iterations=1: " in host.synced
    assert "Slowest hasher" not in host.synced


def test_new_user_signs_up_in_project_with_existing_users(host):
    status, _ = post(host.url + "signup", email="new@example.com", password="plum tart 42 windows")

    assert status == 201
