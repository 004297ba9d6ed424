"""Users who came without us are adopted once, and a better hash ends nobody's sign-in."""

from functools import partial

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import MD5PasswordHasher, PBKDF2PasswordHasher, make_password

from authservice.core.credentials.attempt_counter import PASSWORD as BUDGET
from authservice.core.models import DEVICES, Account
from tests.client import PASSWORD
from tests.races.crowd import SIZE, tally


def log_in(api, *, device="", **who):
    headers = {"X-Device-Token": device} if device else {}
    return partial(api.post, "login", headers=headers, password=PASSWORD, **who)


def import_users(*usernames, email):
    """Users made behind our back: no signal, no account."""
    users = get_user_model()
    encoded = make_password(PASSWORD)
    users.objects.bulk_create(
        users(username=username, email=email, password=encoded) for username in usernames
    )


def test_a_user_is_adopted_once_by_many_first_logins(crowd, api, rounds):
    for number in rounds:
        import_users(f"ann{number}", email=f"ann{number}@example.com")

        answers = crowd.race([log_in(api, username=f"ann{number}")] * BUDGET.limit)

        assert tally(answers) == {200: BUDGET.limit}
        assert Account.objects.count() == number + 1


def test_users_who_share_an_address_all_get_in_at_once(crowd, api, rounds):
    for number in rounds:
        names = [f"ann-{number}-{place}" for place in range(SIZE)]
        import_users(*names, email=f"ann{number}@example.com")

        answers = crowd.race(log_in(api, username=name) for name in names)

        assert tally(answers) == {200: SIZE}


def test_a_shared_address_is_given_at_most_once(crowd, api, rounds):
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


def age_the_hash():
    """The password as an old release stored it, or an old iteration count."""
    old = PBKDF2PasswordHasher().encode(PASSWORD, MD5PasswordHasher().salt(), iterations=1)
    get_user_model().objects.update(password=old)


def upgraded(crowd, api, devices):
    age_the_hash()
    return crowd.race(log_in(api, email="ann@example.com", device=device) for device in devices)


def test_logins_that_upgrade_one_hash_all_succeed(crowd, api, rounds, devices):
    for _ in rounds:
        assert tally(upgraded(crowd, api, devices)) == {200: DEVICES}


def test_logins_that_upgrade_one_hash_all_live_on(crowd, api, rounds, devices):
    for _ in rounds:
        tokens = [answer.data["access_token"] for answer in upgraded(crowd, api, devices)]

        assert [api.get("me", token=token).status for token in tokens] == [200] * DEVICES
