"""The sync of accounts names every hasher whose hashes the project can check."""

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import BasePasswordHasher

from tests.support.hashing import FAST, PBKDF2
from tests.support.people import make_user

pytestmark = pytest.mark.django_db


class Opaque(BasePasswordHasher):
    """A hasher of the host that checks hashes without `decode`."""

    algorithm = "opaque"

    def encode(self, password, salt):
        return f"opaque${salt}${password[::-1]}"

    def verify(self, password, encoded):
        return encoded.endswith(f"${password[::-1]}")

    def harden_runtime(self, password, encoded):
        """Takes no measurable time."""


HERE = f"{__name__}.Opaque"


@pytest.fixture
def hashed_by(run, settings):
    """`hashed_by(hasher)` returns the output of the command for a user with a hash by `hasher`."""

    def hashed_by(hasher):
        settings.PASSWORD_HASHERS = [hasher]
        make_user()
        return run("authservice_sync_accounts", "--dry-run")

    return hashed_by


def test_sync_names_hasher_with_its_work_factor(hashed_by):
    output = hashed_by(f"{PBKDF2.__module__}.PBKDF2")

    assert "\npbkdf2_sha256 iterations=1000: 1 password, " in output


def test_sync_names_hasher_without_unknown_work_factor(hashed_by):
    assert "\nopaque: 1 password, " in hashed_by(HERE)


def test_sync_names_users_whose_password_no_hasher_can_check(hashed_by, settings, run):
    assert "can check" not in hashed_by(HERE)
    settings.PASSWORD_HASHERS = FAST

    output = run("authservice_sync_accounts", "--dry-run")

    pk = get_user_model().objects.get().pk
    assert f"Passwords that no hasher of PASSWORD_HASHERS can check: users {pk}. " in output
    assert "opaque" not in output


@pytest.mark.parametrize("encoded", ["!unusable", ""])
def test_sync_does_not_name_users_without_a_password(run, encoded):
    user = make_user(password=None)
    type(user).objects.update(password=encoded)

    assert "can check" not in run("authservice_sync_accounts", "--dry-run")


@pytest.mark.parametrize("encoded", ["!unusable", "", "pbkdf2_sha256$cut"])
def test_sync_omits_unusable_passwords(run, settings, encoded):
    settings.PASSWORD_HASHERS = [f"{PBKDF2.__module__}.PBKDF2"]
    user = make_user(password=None)
    type(user).objects.update(password=encoded)

    assert "Slowest" not in run("authservice_sync_accounts", "--dry-run")


def test_sync_advises_a_dummy_hasher_if_the_slowest_is_another_one(hashed_by, settings, run):
    output = hashed_by(HERE)
    assert "Slowest hasher" not in output

    settings.PASSWORD_HASHERS = [*FAST, HERE]
    assert "set AUTHSERVICE['CORE']['DUMMY_HASHER'] = 'opaque'" in run(
        "authservice_sync_accounts", "--dry-run"
    )
