"""Which hashers the sync of accounts names: every one whose hashes can be checked here."""

import pytest
from django.contrib.auth.hashers import BasePasswordHasher

from tests.hashing import FAST, PBKDF2
from tests.people import make_user

pytestmark = pytest.mark.django_db


class Opaque(BasePasswordHasher):
    """A host's, which checks hashes without taking them apart: it has no `decode`."""

    algorithm = "opaque"

    def encode(self, password, salt):
        return f"opaque${salt}${password[::-1]}"

    def verify(self, password, encoded):
        return encoded.endswith(f"${password[::-1]}")

    def harden_runtime(self, password, encoded):
        """Takes no time to speak of."""


HERE = f"{__name__}.Opaque"


@pytest.fixture
def hashed_by(run, settings):
    """`hashed_by(hasher)` is what the command says of a user whose hash `hasher` made."""

    def hashed_by(hasher):
        settings.PASSWORD_HASHERS = [hasher]
        make_user()
        return run("authservice_sync_accounts", "--dry-run")

    return hashed_by


def test_a_hasher_is_named_with_what_its_work_costs(hashed_by):
    said = hashed_by(f"{PBKDF2.__module__}.PBKDF2")

    assert "\npbkdf2_sha256 iterations=1000: 1 passwords, " in said


def test_a_hasher_that_cannot_tell_is_named_without(hashed_by):
    assert "\nopaque: 1 passwords, " in hashed_by(HERE)


def test_a_hash_that_nobody_can_check_is_left_out(hashed_by, settings, run):
    hashed_by(HERE)
    settings.PASSWORD_HASHERS = FAST

    assert "opaque" not in run("authservice_sync_accounts", "--dry-run")


@pytest.mark.parametrize("encoded", ["!unusable", "", "pbkdf2_sha256$cut"])
def test_nor_is_what_is_no_hash(run, settings, encoded):
    settings.PASSWORD_HASHERS = [f"{PBKDF2.__module__}.PBKDF2"]
    user = make_user(password=None)
    type(user).objects.update(password=encoded)

    assert "Slowest" not in run("authservice_sync_accounts", "--dry-run")
