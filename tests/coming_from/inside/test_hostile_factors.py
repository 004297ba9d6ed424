"""Rows that cannot be imported are reported with the reason, and do not stop the others."""

import base64
from datetime import timedelta

import pytest
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator as Allauth
from dj_rest_auth.mfa.models import Authenticator as Rest
from dj_rest_auth.mfa.totp import _signer
from django.utils import timezone

from authservice.twofactor.models import Authenticator, BackupCode
from tests.coming_from.inside.conftest import old_user
from tests.coming_from.inside.factors import (
    OTHER,
    SEED,
    allauth_row,
    code_of,
    log_in,
    of_allauth,
    of_dj_rest_auth,
)

pytestmark = pytest.mark.django_db

UNREADABLE, SHORT = "its secret cannot be read", "its secret has less than 80 bits"

SHORT_SEED = base64.b32encode(b"9 octets.").decode()


@pytest.fixture
def secrets():
    """Texts that no report may contain."""
    return (SEED, OTHER, SHORT_SEED)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"secret": "not base32!"}, UNREADABLE),
        ({"secret": "A"}, UNREADABLE),
        ({"secret": "ÄÖÜ" * 8}, UNREADABLE),
        ({"secret": ""}, SHORT),
        ({"secret": SHORT_SEED}, SHORT),
        ({"secret": None}, UNREADABLE),
        ({"secret": ["x"]}, UNREADABLE),
        ({"secret": "A" * 4096}, "its secret has more than 512 bits"),
        ({}, UNREADABLE),
        ([], UNREADABLE),
        ("text", UNREADABLE),
    ],
)
def test_garbage_of_allauth_is_reported(refused, ann, bob, data, reason):
    Allauth.objects.create(user=ann, type="totp", data=data)
    of_allauth(bob)

    refused("allauth", reason)


class Adapter(DefaultMFAAdapter):
    def encrypt(self, text):
        return text[::-1]

    def decrypt(self, encrypted_text):
        if encrypted_text == "wrong key":
            raise RuntimeError("no key fits " + encrypted_text)
        return encrypted_text[::-1]


def test_seeds_and_codes_are_decrypted_by_the_adapter(bring, api, settings):
    settings.MFA_ADAPTER = f"{__name__}.Adapter"
    codes = of_allauth(old_user())
    assert Allauth.objects.get(type="totp").data["secret"] == SEED[::-1]

    bring("allauth")

    assert log_in(api, code_of()).data["access_token"]
    assert log_in(api, codes[0]).data["access_token"]


def test_seed_that_the_adapter_cannot_decrypt_is_reported(refused, ann, bob, settings):
    settings.MFA_ADAPTER = f"{__name__}.Adapter"
    allauth_row(ann, secret="wrong key")
    of_allauth(bob)

    refused("allauth", UNREADABLE)


@pytest.mark.parametrize(
    "setting", [{"MFA_TOTP_DIGITS": 8}, {"MFA_TOTP_PERIOD": 60}], ids=["digits", "period"]
)
def test_other_parameters_of_allauth_are_reported(bring, settings, setting):
    of_allauth(old_user())
    for name, value in setting.items():
        setattr(settings, name, value)

    assert "its codes are not those of every app" in bring("allauth")
    assert not Authenticator.objects.exists()


def test_security_key_of_allauth_is_reported(refused, ann, bob, settings):
    settings.INSTALLED_APPS = [
        app for app in settings.INSTALLED_APPS if app != "authservice.passkeys"
    ]
    Allauth.objects.create(user=ann, type="webauthn", data={"name": "key", "credential": {}})
    of_allauth(bob)

    refused("allauth", "passkeys and security keys: add 'authservice.passkeys'")


def test_used_recovery_codes_of_allauth_are_left_out(bring, api):
    codes = of_allauth(old_user())
    row = Allauth.objects.get(type="recovery_codes")
    row.data["used_mask"] = 0b101
    row.save()

    bring("allauth")

    assert BackupCode.objects.count() == len(codes) - 2
    assert log_in(api, codes[0]).code == "TWO_FACTOR_INVALID"
    assert log_in(api, codes[1]).data["access_token"]


def test_migrated_recovery_codes_of_allauth_work(bring, api):
    of_allauth(old_user())
    row = Allauth.objects.get(type="recovery_codes")
    row.data = {"migrated_codes": ["abcd-efgh", "ijkl mnop", "ABCDEFGH", "123456", "täst-code"]}
    row.save()

    report = bring("allauth")

    assert "Skipped: a backup code was left" in report
    assert BackupCode.objects.count() == 2
    assert log_in(api, "ABCD-EFGH").data["access_token"]
    assert log_in(api, "ijklmnop").data["access_token"]


@pytest.mark.parametrize("data", [{}, {"seed": 1, "used_mask": 0}, {"seed": "ä", "used_mask": 0}])
def test_app_is_imported_without_recovery_codes_that_cannot_be_read(bring, api, data):
    of_allauth(old_user())
    Allauth.objects.filter(type="recovery_codes").update(data=data)

    assert "Skipped: a backup code was left" in bring("allauth")
    assert log_in(api, code_of()).data["access_token"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"secret": SEED}, UNREADABLE),
        ({"secret": _signer.sign(SEED)[:-1]}, UNREADABLE),
        ({"secret": _signer.sign("not base32!")}, UNREADABLE),
        ({"secret": _signer.sign(SHORT_SEED)}, SHORT),
        ({}, UNREADABLE),
        ([], UNREADABLE),
    ],
)
def test_garbage_of_dj_rest_auth_is_reported(refused, ann, bob, data, reason):
    Rest.objects.create(user=ann, type="totp", data=data)
    of_dj_rest_auth(bob)

    refused("dj_rest_auth", reason)


def test_used_recovery_codes_of_dj_rest_auth_are_left_out(bring, api):
    codes = of_dj_rest_auth(old_user())
    row = Rest.objects.get(type="recovery_codes")
    row.data["used_mask"] = 0b10
    row.save()

    bring("dj_rest_auth")

    assert log_in(api, codes[1]).code == "TWO_FACTOR_INVALID"
    assert log_in(api, codes[0]).data["access_token"]


@pytest.mark.parametrize("data", [{}, {"seed": "no hex"}, {"seed": "00", "used_mask": "x"}])
def test_app_of_dj_rest_auth_is_imported_without_unreadable_codes(bring, data):
    of_dj_rest_auth(old_user())
    Rest.objects.filter(type="recovery_codes").update(data=data)

    assert "1 imported" in bring("dj_rest_auth")
    assert not BackupCode.objects.exists()


def test_time_of_the_package_is_kept(bring):
    of_allauth(old_user())
    added = timezone.now() - timedelta(days=30)
    Allauth.objects.update(created_at=added, last_used_at=added)

    bring("allauth")

    row = Authenticator.objects.get()
    assert (row.set_up_at, row.last_used_at) == (added, added)
