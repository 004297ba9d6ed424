"""Devices of django-otp: which are imported, and why the others are not."""

import base64
import time

import pytest
from django.db import connection
from django.utils import timezone
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from authservice.core.models import Account
from authservice.twofactor.models import Authenticator, BackupCode
from tests.coming_from.inside.conftest import old_user
from tests.coming_from.inside.factors import (
    OTHER,
    SEED,
    challenge,
    code_of,
    log_in,
    of_django_otp,
)

pytestmark = pytest.mark.django_db

UNREADABLE, SHORT = "its secret cannot be read", "its secret has less than 80 bits"

SHORT_SEED = base64.b32encode(b"9 octets.").decode()

NOW = int(time.time()) // 30


@pytest.fixture
def secrets():
    """Texts that no report may contain."""
    return (SEED, OTHER, SHORT_SEED)


@pytest.mark.parametrize(
    ("device", "reason"),
    [
        ({"key": "no hex"}, UNREADABLE),
        ({"key": "abc"}, UNREADABLE),
        ({"key": "ää" * 10}, UNREADABLE),
        ({"key": ""}, SHORT),
        ({"key": "00" * 9}, SHORT),
        ({"digits": 8}, "its codes are not those of every app"),
        ({"step": 60}, "its codes are not those of every app"),
        ({"t0": 1}, "its codes are not those of every app"),
        ({"drift": 2}, "its clock deviates"),
        ({"drift": -2}, "its clock deviates"),
        ({"last_t": NOW + 1000}, "its last code is one of the future"),
        ({"last_t": 2**62}, "its last code is one of the future"),
        ({"confirmed": False}, "it was never confirmed with a code"),
    ],
)
def test_device_that_cannot_be_imported_is_reported(refused, ann, bob, device, reason):
    of_django_otp(ann, codes=(), **device)
    of_django_otp(bob)

    refused("django_otp", reason)


@pytest.mark.parametrize("size", ["1", "500"])
def test_app_that_was_used_last_is_imported(bring, api, size):
    user = old_user()
    of_django_otp(user, OTHER, name="first", last_t=5, codes=())
    of_django_otp(user, SEED, name="second", last_t=9, codes=())
    of_django_otp(user, OTHER, name="third", codes=())

    report = bring("django_otp", "--batch-size", size)

    assert "3 rows read, 1 imported" in report
    assert "Skipped: the user has another authenticator app" in report
    assert log_in(api, code_of()).data["access_token"]


def test_of_apps_that_were_never_used_the_first_is_imported(bring, api):
    user = old_user()
    of_django_otp(user, SEED, name="first", codes=())
    of_django_otp(user, OTHER, name="second", codes=())

    bring("django_otp")

    assert log_in(api, code_of()).data["access_token"]


@pytest.mark.parametrize("size", ["1", "500"])
@pytest.mark.parametrize(
    ("device", "reason"),
    [
        ({"drift": 2}, "its clock deviates"),
        ({"drift": -2}, "its clock deviates"),
        ({"last_t": NOW + 1000}, "its last code is one of the future"),
        ({"key": "no hex"}, UNREADABLE),
        ({"key": "00" * 9}, SHORT),
        ({"t0": 1}, "its codes are not those of every app"),
    ],
)
def test_app_that_cannot_be_imported_does_not_hide_the_other(bring, api, device, reason, size):
    user = old_user()
    of_django_otp(user, OTHER, codes=(), **{"last_t": 9, **device})
    of_django_otp(user, SEED, last_t=1, codes=())

    report = bring("django_otp", "--batch-size", size)

    assert f"Skipped: {reason}" in report
    assert "2 rows read, 1 imported" in report
    assert log_in(api, code_of()).data["access_token"]


@pytest.mark.parametrize("size", ["1", "500"])
@pytest.mark.parametrize("dry", [("--dry-run",), ()])
def test_app_from_before_a_proof_does_not_hide_the_one_set_up_after_it(bring, api, size, dry):
    """An attacker who signed up with the address may go on to use the app."""
    user = old_user()
    of_django_otp(user, OTHER, last_t=9, codes=())
    Account.objects.update(email_proven_at=timezone.now())
    of_django_otp(user, SEED, last_t=1, codes=())

    report = bring("django_otp", "--batch-size", size, *dry)

    assert "Skipped: the address of the account was proven here later" in report
    assert "2 rows read, 1 " in report
    if not dry:
        assert log_in(api, code_of()).data["access_token"]
        assert "0 imported" in bring("django_otp")


@pytest.mark.parametrize("size", ["1", "500"])
def test_app_that_was_removed_here_does_not_hide_one_that_was_set_up_later(bring, api, size):
    user = old_user()
    of_django_otp(user, OTHER, last_t=9, codes=())
    bring("django_otp")
    Authenticator.objects.all().delete()
    of_django_otp(user, SEED, codes=())

    report = bring("django_otp", "--batch-size", size)

    assert "was removed here since" in report
    assert log_in(api, code_of()).data["access_token"]


def test_app_that_was_removed_here_still_hides_one_that_was_there_before(bring, api):
    """Otherwise the user who disabled the second factor would be asked for a code again."""
    user = old_user()
    of_django_otp(user, OTHER, last_t=9, codes=())
    of_django_otp(user, SEED, last_t=1, codes=())
    bring("django_otp")
    Authenticator.objects.all().delete()

    assert "0 imported" in bring("django_otp")
    assert challenge(api) is None


def test_unconfirmed_or_unsuitable_device_does_not_hide_the_other(bring, api):
    user = old_user()
    of_django_otp(user, SEED, last_t=1, codes=())
    of_django_otp(user, OTHER, last_t=9, confirmed=False, codes=())
    of_django_otp(user, OTHER, last_t=9, digits=8, codes=())

    bring("django_otp")

    assert log_in(api, code_of()).data["access_token"]


def test_codes_without_an_app_are_reported(bring):
    user = old_user()
    StaticDevice.objects.create(user=user, name="backup").token_set.create(token="abcd2345")
    StaticDevice.objects.create(user=user, name="empty")

    report = bring("two_factor")

    assert "Skipped: backup codes of a user without an authenticator app" in report
    assert "1 skipped" in report
    assert "abcd2345" not in report


def test_codes_of_an_unconfirmed_device_are_left_out(bring):
    user = old_user()
    of_django_otp(user, codes=())
    device = StaticDevice.objects.create(user=user, name="backup", confirmed=False)
    device.token_set.create(token="abcd2345")

    bring("django_otp")

    assert not BackupCode.objects.exists()


def test_code_that_is_stored_twice_is_one_code(bring):
    of_django_otp(old_user(), codes=["abcd2345", "abcd2345", "ABCD2345", "abcd-2345"])

    assert "1 imported" in bring("django_otp")

    assert BackupCode.objects.count() == 1


def test_factor_of_a_user_who_does_not_exist_is_skipped(bring):
    of_django_otp(old_user(), codes=())
    with connection.constraint_checks_disabled():
        TOTPDevice.objects.update(user_id=1_000_000)
        assert "Skipped: the user does not exist" in bring("django_otp")

        TOTPDevice.objects.all()._raw_delete("default")


def test_devices_of_django_otp_are_imported_once_for_both_sources(bring):
    of_django_otp(old_user())
    bring("django_otp")
    Authenticator.objects.all().delete()

    assert "was removed here since" in bring("two_factor")
    assert not Authenticator.objects.exists()
