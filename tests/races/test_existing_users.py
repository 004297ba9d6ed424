"""Existing users get one account at their first login, and a hash upgrade revokes no session."""

from functools import partial

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import MD5PasswordHasher, PBKDF2PasswordHasher, make_password

from authservice.core.credentials.attempt_counter import PASSWORD as BUDGET
from authservice.core.models import DEVICES, Account
from tests.races.crowd import SIZE, tally
from tests.support.client import PASSWORD


def log_in(api, *, device="", **identifier):
    headers = {"X-Device-Token": device} if device else {}
    return partial(api.post, "login", headers=headers, password=PASSWORD, **identifier)


def import_users(*usernames, email):
    """Create users without signals, so they have no account."""
    users = get_user_model()
    encoded = make_password(PASSWORD)
    users.objects.bulk_create(
        users(username=username, email=email, password=encoded) for username in usernames
    )


def test_parallel_first_logins_of_an_existing_user_create_one_account(crowd, api, rounds):
    for number in rounds:
        import_users(f"ann{number}", email=f"ann{number}@example.com")

        answers = crowd.race([log_in(api, username=f"ann{number}")] * BUDGET.limit)

        assert tally(answers) == {200: BUDGET.limit}
        assert Account.objects.count() == number + 1


def test_users_with_a_shared_address_all_log_in_concurrently(crowd, api, rounds):
    for number in rounds:
        names = [f"ann-{number}-{place}" for place in range(SIZE)]
        import_users(*names, email=f"ann{number}@example.com")

        answers = crowd.race(log_in(api, username=name) for name in names)

        assert tally(answers) == {200: SIZE}


def test_shared_address_is_assigned_to_at_most_one_account(crowd, api, rounds):
    for number in rounds:
        names = [f"ann-{number}-{place}" for place in range(SIZE)]
        import_users(*names, email=f"ann{number}@example.com")

        crowd.race(log_in(api, username=name) for name in names)

        assert Account.objects.exclude(email_key=None).count() <= number + 1


@pytest.fixture
def devices(crowd, api):
    """Tokens of as many known devices as have their own attempts."""
    api.sign_up()
    logins = (api.post("login", email="ann@example.com", password=PASSWORD) for _ in range(DEVICES))
    return [answer.headers["X-Device-Token"] for answer in logins]


def outdate_the_hash():
    """Store the password with an outdated hasher and iteration count."""
    old = PBKDF2PasswordHasher().encode(PASSWORD, MD5PasswordHasher().salt(), iterations=1)
    get_user_model().objects.update(password=old)


def upgraded(crowd, api, devices):
    outdate_the_hash()
    return crowd.race(log_in(api, email="ann@example.com", device=device) for device in devices)


def test_parallel_logins_that_upgrade_a_hash_all_succeed(crowd, api, rounds, devices):
    for _ in rounds:
        assert tally(upgraded(crowd, api, devices)) == {200: DEVICES}


def test_parallel_logins_that_upgrade_a_hash_keep_their_sessions(crowd, api, rounds, devices):
    for _ in rounds:
        tokens = [answer.data["access_token"] for answer in upgraded(crowd, api, devices)]

        assert [api.get("me", token=token).status for token in tokens] == [200] * DEVICES
