"""What the command says without importing: which packages are ready, and what a run would do."""

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth import get_user_model
from django.core.management.base import CommandError

from tests.coming_from.inside.conftest import ANN, BOB, old_user, old_users
from tests.support.people import unsaved

pytestmark = pytest.mark.django_db


def address(user, email=ANN):
    return EmailAddress.objects.create(user=user, email=email, verified=True)


def without_accounts():
    get_user_model().objects.bulk_create([unsaved(ANN)])
    address(get_user_model().objects.get())


def shared_and_verified_by_one():
    address(old_users(ANN, "ANN@example.com")[1])


def shared_and_verified_by_both():
    first, second = old_users(ANN, "ANN@example.com")
    address(first)
    address(second, "ANN@example.com")


def several_of_one_user():
    ann = old_user()
    address(ann)
    address(ann, BOB)


@pytest.mark.parametrize("size", ["1", "500"])
@pytest.mark.parametrize(
    "world",
    [
        without_accounts,
        shared_and_verified_by_one,
        shared_and_verified_by_both,
        several_of_one_user,
    ],
)
def test_dry_run_prints_the_numbers_of_the_run(bring, world, size):
    world()

    would = bring("allauth", "--dry-run", "--batch-size", size)

    assert would.replace("would be imported", "imported") == bring("allauth", "--batch-size", size)


@pytest.mark.parametrize("package", ["dj_rest_auth", "djoser", "two_factor"])
def test_package_that_only_reads_tables_of_others_is_not_ready_without_its_app(
    bring, settings, package
):
    settings.DJOSER = {"SEND_ACTIVATION_EMAIL": True}
    ready = [line for line in bring().splitlines() if line.startswith(f"{package} (")]
    assert ready
    assert all(line.endswith("): ready") for line in ready)
    others = [one for one in settings.INSTALLED_APPS if one.partition(".")[0] != package]
    settings.INSTALLED_APPS = others
    reason = f"'{package}' is not in INSTALLED_APPS. Keep it installed until the import is done."

    listed = [line for line in bring().splitlines() if line.startswith(f"{package} (")]

    assert len(listed) == len(ready)
    assert all(line.endswith(f"): {reason}") for line in listed)
    with pytest.raises(CommandError) as refused:
        bring(package)
    assert str(refused.value) == reason


def test_source_of_a_missing_package_is_refused(bring, settings):
    settings.INSTALLED_APPS = [one for one in settings.INSTALLED_APPS if one != "knox"]

    with pytest.raises(CommandError, match="no such table is installed"):
        bring("knox")
