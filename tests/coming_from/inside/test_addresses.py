"""Addresses that another package has verified are proven, and all others are reported."""

from dataclasses import replace

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth import get_user_model
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from authservice.core.models import Account, ImportedRow
from authservice.core.recovery import earlier_proofs
from authservice.core.users import lookup
from authservice.core.users.user_model import host
from tests.coming_from.inside.conftest import ANN, BOB, old_user, old_users
from tests.support.client import PASSWORD
from tests.support.people import unsaved

pytestmark = pytest.mark.django_db


def address(user, email=ANN, *, verified=True, **more):
    return EmailAddress.objects.create(user=user, email=email, verified=verified, **more)


def proven(user):
    found = lookup.find_by_pk(user.pk)
    return bool(found and found.email_proven)


def test_verified_address_is_proven_and_an_unverified_one_is_not(bring):
    ann, bob = old_users(ANN, BOB)
    address(ann)
    address(bob, BOB, verified=False)

    report = bring("allauth")

    assert "verified addresses: 2 rows read, 1 imported, 0 already there" in report
    assert "Skipped: the package has not verified the address" in report
    assert (proven(ann), proven(bob)) == (True, False)


def test_magic_link_to_an_imported_address_keeps_the_password(bring, api, magic):
    address(old_user())
    bring("allauth")

    assert magic.follow(magic.mailed().token).status == 200

    assert api.post("login", email=ANN, password=PASSWORD).status == 200


def test_further_address_of_a_user_is_reported(bring):
    ann = old_user()
    address(ann, primary=True)
    address(ann, "second@example.com")

    report = bring("allauth")

    assert "1 imported" in report
    assert "Skipped: it is not the current address of the user" in report
    assert lookup.find_by_email("second@example.com") is None


def test_address_in_another_case_is_proven(bring):
    ann = old_user("Ann@Example.com")
    address(ann, "ann@example.com")

    bring("allauth")

    assert proven(ann)


def test_import_can_be_repeated(bring):
    address(old_user())
    bring("allauth")
    before = list(Account.objects.values())

    assert "0 imported, 1 already there, 0 conflicts, 0 skipped" in bring("allauth")
    assert list(Account.objects.values()) == before


def test_dry_run_writes_nothing(bring):
    ann = old_user()
    address(ann)

    assert "1 would be imported" in bring("allauth", "--dry-run")

    assert not proven(ann)
    assert not ImportedRow.objects.exists()


def test_address_that_staff_marked_as_unverified_stays_so(bring):
    ann = old_user()
    address(ann)
    bring("allauth")
    Account.objects.update(verified_email_key="")
    ImportedRow.objects.all().delete()

    bring("allauth")

    assert not proven(ann)


def test_address_that_was_changed_and_changed_back_stays_unverified(bring):
    ann = old_user()
    address(ann)
    bring("allauth")
    Account.objects.update(verified_email_key="", proven_email_key="")

    bring("allauth")

    assert not proven(ann)


def test_user_without_an_account_is_reported(bring):
    get_user_model().objects.bulk_create([unsaved(ANN)])
    address(get_user_model().objects.get())

    assert "run authservice_sync_accounts first" in bring("allauth")
    assert not Account.objects.exists()


def test_shared_address_goes_to_the_user_who_verified_it(bring):
    first, second = old_users(ANN, "ANN@example.com")
    address(second, ANN)

    assert "1 imported" in bring("allauth")

    assert (proven(first), proven(second)) == (False, True)
    found = lookup.find_by_email(ANN)
    assert found is not None
    assert found.user == second


def test_shared_address_that_its_user_has_changed_meanwhile_proves_nothing():
    """Shared addresses are assigned after all batches."""
    _, second = old_users(ANN, "ANN@example.com")
    proof = earlier_proofs.proof(second.pk, ANN)
    assert earlier_proofs.mark([proof], None) == {proof: earlier_proofs.SHARED}
    get_user_model().objects.filter(pk=second.pk).update(email=BOB)
    assert lookup.find_by_email(ANN) is None
    lookup.keep_in_sync(second.pk)

    assert earlier_proofs.settle([proof], None) == {}

    assert not Account.objects.exclude(verified_email_key="").exists()
    assert not Account.objects.exclude(proven_email_key="").exists()


def test_shared_address_that_two_users_verified_is_a_conflict(bring):
    first, second = old_users(ANN, "ANN@example.com")
    address(first, ANN)
    address(second, "ANN@example.com")

    report = bring("allauth", "--batch-size", "1")

    assert "0 imported, 0 already there, 2 conflicts" in report
    assert (proven(first), proven(second)) == (False, False)


@pytest.mark.parametrize("email", ["", "no address", "@", "ann@", "x" * 240 + "@example.com"])
def test_text_that_is_no_address_proves_nothing(bring, email):
    ann = old_user()
    address(ann, email)

    assert "1 skipped" in bring("allauth")
    assert not proven(ann)


def test_address_of_a_user_who_does_not_exist_is_skipped(bring):
    ann = old_user()
    address(ann)
    Account.objects.all().delete()
    with connection.constraint_checks_disabled():
        get_user_model().objects.all()._raw_delete("default")

        assert "1 skipped" in bring("allauth")

        EmailAddress.objects.all()._raw_delete("default")


def test_statements_of_a_batch_do_not_depend_on_its_size(bring):
    def statements(number, prefix):
        emails = [f"{prefix}{place}@example.com" for place in range(number)]
        rows = [
            EmailAddress(user=one, email=one.email, verified=True) for one in old_users(*emails)
        ]
        EmailAddress.objects.all().delete()
        EmailAddress.objects.bulk_create(rows)
        with CaptureQueriesContext(connection) as asked:
            assert f"{number} imported" in bring("allauth")
        return len(asked)

    assert statements(2, "few") == statements(40, "many")


def test_mark_is_recorded(bring, recorded):
    ann = old_user()
    address(ann)

    bring("allauth")

    (event,) = recorded("user.email.verified")
    assert (event.target, event.actor_type) == (ann, "system")
    assert event.metadata == {"reason": "import"}


def test_active_users_of_djoser_have_verified_their_address(bring, settings):
    settings.DJOSER = {"SEND_ACTIVATION_EMAIL": True}
    ann = old_user()
    bob = old_user(BOB, is_active=False)

    report = bring("djoser")

    assert "verified addresses: 2 rows read, 1 imported" in report
    assert "Skipped: the user is not active" in report
    assert (proven(ann), proven(bob)) == (True, False)


def test_user_who_may_have_signed_up_here_is_not_one_of_djoser(bring, api, settings):
    settings.DJOSER = {"SEND_ACTIVATION_EMAIL": True}
    api.sign_up()

    assert "Skipped: the user joined after the service was installed" in bring("djoser")
    assert not Account.objects.exclude(proven_email_key="").exists()


def test_djoser_without_activation_proves_nothing(bring, settings):
    settings.DJOSER = {}
    ann = old_user()

    assert "verified addresses: not read. DJOSER['SEND_ACTIVATION_EMAIL']" in bring("djoser")
    assert not proven(ann)


def test_djoser_proves_no_address_that_is_the_username_field(bring, settings, monkeypatch):
    """The route `set_email` of djoser changes it, and the user stays active."""
    settings.DJOSER = {"SEND_ACTIVATION_EMAIL": True}
    by_address = replace(host(), natural=host().email)
    monkeypatch.setattr("authservice.core.importing.sources.host", lambda: by_address)
    ann = old_user()

    assert "verified addresses: not read. USERNAME_FIELD is the address" in bring("djoser")
    assert not proven(ann)


def test_since_reads_all_addresses(bring):
    # The package stores no time with an address.
    ann = old_user()
    address(ann)

    bring("allauth", "--since", timezone.now().isoformat())

    assert proven(ann)


def test_address_in_two_spellings_is_remembered_once_for_each_row(bring):
    ann = old_user()
    address(ann)
    other = address(ann, "other@example.com")
    # Another case is the same text in a table of MariaDB.
    EmailAddress.objects.filter(pk=other.pk).update(email=f" {ANN}")

    assert "2 rows read, 2 imported" in bring("allauth")
    assert ImportedRow.objects.filter(kind="address").count() == 2
