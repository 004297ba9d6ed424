"""A later run does not bring back links that were removed here since."""

import pytest

from authservice.core.models import ImportedRow
from authservice.oauth import storage
from authservice.oauth.models import LinkedAccount
from tests.oauth.browsing import profile
from tests.oauth.importing.conftest import GOOGLE, allauth, social
from tests.oauth.importing.test_import import link
from tests.support.people import make_user

pytestmark = pytest.mark.django_db
MAPPED = ("social_django", "--map", "old=acme", "--map", "google-oauth2=google")
SINCE = "it was imported by an earlier run and was removed here since"


@pytest.fixture(autouse=True)
def _google(providers):
    providers(acme={}, google={})


def linked():
    return sorted(LinkedAccount.objects.values_list("provider", flat=True))


def test_link_that_staff_removed_is_not_imported_again(run, old_user):
    social(old_user, "old", "ann-at-acme")
    run(*MAPPED)
    LinkedAccount.objects.all().delete()

    assert f"Skipped: {SINCE}" in run(*MAPPED)
    assert linked() == []


def test_link_that_was_here_before_the_import_is_not_imported_later(run, old_user):
    social(old_user, "old", "ann-at-acme")
    storage.links().add(link(old_user))
    assert "1 already there" in run(*MAPPED)
    LinkedAccount.objects.all().delete()

    assert f"Skipped: {SINCE}" in run(*MAPPED)
    assert linked() == []


def test_link_that_its_user_removed_is_never_imported(run, api, browser, post, old_user):
    social(old_user, "google-oauth2", GOOGLE)
    storage.links().add(link(old_user))
    storage.links().add(link(old_user, GOOGLE, "google"))
    token = browser.sign_in(profile(email="")).data["access_token"]
    assert api.request("DELETE", "oauth/google", token=token).status == 200

    assert "Skipped: the link was removed here" in run(*MAPPED)
    assert f"Skipped: {SINCE}" in run(*MAPPED)
    assert linked() == ["acme"]


def test_link_that_the_package_added_again_is_imported(run, old_user):
    row = social(old_user, "old", "ann-at-acme")
    run(*MAPPED)
    LinkedAccount.objects.all().delete()
    row.delete()
    social(old_user, "old", "ann-at-acme")

    assert "1 imported" in run(*MAPPED)


def test_skipped_link_is_imported_once_it_is_confirmed(run, old_user):
    social(old_user, "old", "ann-at-acme")

    assert "1 skipped" in run("social_django")
    assert "1 imported" in run(*MAPPED)


def test_dry_run_remembers_nothing(run, old_user):
    social(old_user, "old", "ann-at-acme")

    run(*MAPPED, "--dry-run")

    assert not ImportedRow.objects.exists()


def test_rows_of_two_packages_with_one_key_are_two_rows(run, old_user):
    first = social(old_user, "old", "ann-at-acme")
    allauth(make_user("bob@example.com"), "google", GOOGLE, pk=first.pk)
    run(*MAPPED)

    assert "1 imported" in run("allauth", "--map", "google=google")
