"""The same codes work after the import, each once, for every package."""

import time
from datetime import UTC, datetime, timedelta

import pytest
from allauth.mfa.models import Authenticator as Allauth
from dj_rest_auth.mfa.models import Authenticator as Rest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from authservice.core.credentials import passwords
from authservice.core.models import Account, ImportedRow, Session
from authservice.core.recovery import first_proof
from authservice.core.users import lookup
from authservice.kernel.client import Client
from authservice.twofactor import authenticators, enrolment
from authservice.twofactor.models import Authenticator, BackupCode
from tests.coming_from.inside import factors
from tests.coming_from.inside.conftest import ANN, BOB, old_user, old_users
from tests.coming_from.inside.factors import KINDS, OTHER, SEED, challenge, code_of, log_in
from tests.support.client import PASSWORD
from tests.support.people import the_user

pytestmark = pytest.mark.django_db
OLD = datetime(2024, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture(params=KINDS, ids=[name for name, _ in KINDS])
def kind(request):
    return request.param


@pytest.fixture
def source(kind):
    return kind[0]


@pytest.fixture
def make(kind):
    """`make(user)`: the user's factor in the package; returns the backup codes."""
    return kind[1]


@pytest.fixture
def moved(bring, source, make):
    """Ann's backup codes, after the import."""
    codes = make(old_user())
    assert "authenticator apps and backup codes: 1 row read, 1 imported" in bring(source)
    return codes


def test_code_of_the_same_app_logs_in(api, moved):
    assert log_in(api, code_of()).data["access_token"]


def test_each_backup_code_logs_in_once(api, moved):
    assert len(moved) >= 2
    for code in moved[:2]:
        assert log_in(api, code).data["access_token"]
        assert log_in(api, code).code == "TWO_FACTOR_INVALID"


def test_backup_code_is_accepted_as_its_user_types_it(api, moved):
    assert log_in(api, f" {moved[0].upper()} ").data["access_token"]


def test_backup_codes_from_before_a_proof_are_left_with_an_app_from_after_it(
    bring, api, source, make
):
    """An attacker who signed up with the address may have kept them."""
    user = old_user()
    codes = make(user)
    for model in (TOTPDevice, Allauth, Rest):
        # Recovery codes are rows of the same model, with another type.
        later = {} if model is TOTPDevice else {"type": "totp"}
        model.objects.filter(**later).update(created_at=timezone.now() + timedelta(hours=1))
    Account.objects.update(email_proven_at=timezone.now() + timedelta(minutes=1))

    report = bring(source)

    assert "1 row read, 1 imported" in report
    assert "Skipped: its backup codes were left: the address of the account was proven" in report
    assert log_in(api, codes[0]).code == "TWO_FACTOR_INVALID"
    assert log_in(api, code_of()).data["access_token"]


def test_no_code_is_stored_in_plain_text(moved):
    stored = {*BackupCode.objects.values_list("digest", flat=True)}

    assert len(stored) == len(moved)
    assert all(len(digest) == 64 for digest in stored)
    assert SEED not in Authenticator.objects.get().sealed_secret


def test_import_can_be_repeated(bring, source, moved):
    before = [*Authenticator.objects.values(), *BackupCode.objects.order_by("pk").values()]

    assert "0 imported, 1 already there, 0 conflicts, 0 skipped" in bring(source)

    assert [*Authenticator.objects.values(), *BackupCode.objects.order_by("pk").values()] == before


def test_dry_run_writes_nothing(bring, source, make):
    make(old_user())

    assert "1 would be imported" in bring(source, "--dry-run")

    assert not Authenticator.objects.exists()
    assert not ImportedRow.objects.exists()


def test_factor_that_was_disabled_here_is_not_imported_again(api, bring, source, moved):
    Authenticator.objects.get().delete()

    assert "imported by an earlier run and was removed here since" in bring(source)
    assert challenge(api) is None


def test_factor_that_the_user_has_here_stays(bring, source, make):
    user = old_user()
    make(user)
    authenticators.unsaved(
        user.pk, factors.Secret(factors.OTHER), last_step=7, set_up_at=None, last_used_at=None
    ).save()
    before = list(Authenticator.objects.values())

    assert "the user has another authenticator app here, which stays" in bring(source)

    assert list(Authenticator.objects.values()) == before
    assert not BackupCode.objects.exists()


def test_set_up_that_was_not_confirmed_is_replaced(api, bring, source, make):
    user = old_user()
    codes = make(user)
    enrolment.set_up_to_log_in(factors.lookup.get_person(user))

    assert "1 imported" in bring(source)

    assert BackupCode.objects.count() == len(codes)
    assert log_in(api, code_of()).data["access_token"]


def test_sessions_and_devices_stay_valid(api, bring, source, make):
    make(old_user())
    tokens = api.post("login", email=ANN, password=PASSWORD).data
    before = list(Account.objects.values())

    bring(source)

    assert api.get("me", token=tokens["access_token"]).status == 200
    assert api.post("refresh", refresh_token=tokens["refresh_token"]).status == 200
    assert list(Account.objects.values()) == before
    assert not Session.objects.exclude(ended_at=None).exists()


def test_no_mail_is_sent(bring, source, make, post):
    make(old_user())

    bring(source)

    assert post.jobs == []


def test_import_is_recorded(bring, source, make, recorded):
    user = old_user()
    make(user)

    bring(source)

    (event,) = recorded("auth.2fa.enabled")
    assert (event.target, event.actor_type) == (user, "system")
    assert event.metadata == {"reason": "import"}


def test_factor_counts_as_enabled_at_the_import(bring, source, make):
    make(old_user())
    began = timezone.now()

    bring(source)

    assert Authenticator.objects.get().enabled_at >= began


def test_only_factors_added_since_a_day_are_read(bring, source, make):
    ann, bob = old_users(ANN, BOB)
    make(ann)
    for model in (Allauth, Rest, TOTPDevice):
        model.objects.update(created_at=OLD)
    make(bob)

    bring(source, "--since", "2025-01-01")

    assert Authenticator.objects.get().user == bob


def test_factor_of_an_address_that_was_proven_here_later_is_skipped(bring, source, make):
    # The proof has removed all earlier access: an attacker's app would lock the owner out.
    make(old_user())
    Account.objects.update(email_proven_at=timezone.now() + timedelta(seconds=1))

    assert "the address of the account was proven here later" in bring(source)
    assert not Authenticator.objects.exists()


def test_factor_of_a_sign_up_that_was_never_confirmed_ends_by_the_first_proof(bring, source, make):
    """An attacker's app would lock the owner out."""
    make(old_user(password=None))
    bring(source)

    with transaction.atomic():
        person = lookup.get_person(the_user())
        passwords.lock_user(person)
        first_proof.confirm_address(person, Client())

    assert not Authenticator.objects.exists()


def test_app_that_replaced_an_imported_one_in_the_package_is_reported(bring, source, make):
    ann = old_user()
    make(ann)
    bring(source)
    for model in (TOTPDevice, StaticDevice, Allauth, Rest):
        model.objects.filter(user=ann).delete()
    make(ann, OTHER)

    assert "the user has another authenticator app here, which stays" in bring(source)


def test_statements_of_a_batch_do_not_depend_on_its_size(bring, source, make):
    def statements(number, prefix):
        for user in old_users(*(f"{prefix}{place}@example.com" for place in range(number))):
            make(user)
        with CaptureQueriesContext(connection) as asked:
            assert f"{number} imported" in bring(source)
        for model in (Allauth, Rest, TOTPDevice):
            model.objects.all().delete()
        return len([one for one in asked if "INSERT" not in one["sql"]])

    assert statements(2, "few") == statements(25, "many")


def test_first_proof_of_an_unverified_address_removes_an_imported_factor(api, magic, moved):
    magic.follow(magic.mailed().token)

    assert not Authenticator.objects.exists()
    assert not the_user().has_usable_password()


def used(source):
    """Use the current code in the package."""
    ann = the_user()
    if source == "allauth":
        row = Allauth.objects.get(type="totp")
        assert factors.ALLAUTH_TOTP(row).validate_code(code_of())
        row.record_usage()
    elif source == "dj_rest_auth":
        assert factors.REST_TOTP.validate_code(ann, code_of())
    else:
        device = TOTPDevice.objects.get()
        assert device.verify_token(code_of())


def test_code_that_was_used_in_the_package_is_not_accepted_again(
    api, bring, source, make, time_machine
):
    time_machine.move_to(int(time.time()) // 30 * 30 + 5, tick=False)
    make(old_user())
    used(source)
    bring(source)

    assert log_in(api, code_of()).code == "TWO_FACTOR_INVALID"

    time_machine.shift(60)
    assert log_in(api, code_of()).data["access_token"]
