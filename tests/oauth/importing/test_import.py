"""What an import writes and reports, and what it never changes."""

from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from authservice.core.models import Account
from authservice.core.users import lookup
from authservice.oauth import eviction, storage
from authservice.oauth.importing import sources
from authservice.oauth.models import LinkedAccount
from authservice.oauth.storage import Link
from tests.oauth.browsing import ANN
from tests.oauth.importing.conftest import OLD, allauth, social
from tests.support.people import deactivate, make_user
from tests.support.slots import Listener

pytestmark = pytest.mark.django_db
MAPPED = ("social_django", "--map", "old=acme")


@pytest.fixture(autouse=True)
def _google(providers):
    providers(acme={}, google={})


def links():
    return list(LinkedAccount.objects.order_by("pk").values_list("user", "provider", "subject"))


def link(user, subject="ann-at-acme", provider="acme"):
    return Link(
        user_id=user.pk,
        provider=provider,
        subject=subject,
        email="",
        at_signup=False,
        added_at=timezone.now(),
    )


@pytest.fixture
def recorded(monkeypatch):
    events = []
    monkeypatch.setattr("authservice.kernel.events.plugs", lambda slot: (Listener(events.append),))
    return events


def test_imported_link_keeps_time_and_address_and_is_not_of_the_signup(run, old_user):
    social(old_user, "old", "ann-at-acme", extra_data={"email": ANN, "access_token": "secret"})

    assert "1 row read, 1 imported, 0 already there, 0 conflicts, 0 skipped" in run(*MAPPED)

    row = LinkedAccount.objects.get()
    assert (row.user, row.provider, row.subject) == (old_user, "acme", "ann-at-acme")
    assert (row.added_at, row.email, row.at_signup) == (OLD, ANN, False)
    assert row.sealed_tokens == ""


@pytest.mark.parametrize("given", [{"email": "no address"}, {"email": 1}, [], "text", None])
def test_profile_without_a_valid_address_is_imported(run, old_user, given):
    social(old_user, "old", "ann-at-acme", extra_data=given or {})

    run(*MAPPED)

    assert LinkedAccount.objects.get().email == ""


def test_time_in_the_future_is_stored_as_now(run, old_user):
    social(old_user, "old", "ann-at-acme", created=timezone.now() + timedelta(days=9))

    run(*MAPPED)

    assert LinkedAccount.objects.get().added_at <= timezone.now()


def test_import_can_be_repeated(run, old_user):
    social(old_user, "old", "ann-at-acme")
    run(*MAPPED)
    before = links()

    assert "0 imported, 1 already there, 0 conflicts" in run(*MAPPED)
    assert links() == before


def test_dry_run_reports_the_same_and_writes_nothing(run, old_user, recorded):
    bob = make_user("bob@example.com")
    social(old_user, "old", "ann-at-acme")
    social(old_user, "old", "ann-again")
    social(bob, "old", "None")

    would = run(*MAPPED, "--dry-run", "--batch-size", "1")

    assert (links(), recorded) == ([], [])
    done = run(*MAPPED, "--batch-size", "1")
    assert would == done.replace("1 imported", "1 would be imported")
    assert "1 conflict, 1 skipped" in done


def test_second_link_of_an_account_is_a_conflict(run, old_user):
    first, second = social(old_user, "old", "ann-at-acme"), social(old_user, "old", "ann-again")

    report = run(*MAPPED)

    assert f"Conflict: {sources.SECOND}: rows {second.pk} (user {old_user.pk})" in report
    assert f"rows {first.pk}" not in report
    assert links() == [(old_user.pk, "acme", "ann-at-acme")]


def test_same_link_under_two_names_is_no_conflict(run, old_user):
    social(old_user, "old", "ann-at-acme")
    social(old_user, "older", "ann-at-acme")

    report = run(*MAPPED, "--map", "older=acme")

    assert "1 imported, 1 already there, 0 conflicts" in report


def test_link_of_another_account_is_never_overwritten(run, old_user):
    bob = make_user("bob@example.com")
    storage.links().add(link(bob))
    row = social(old_user, "old", "ann-at-acme")

    report = run(*MAPPED)

    assert f"Conflict: {sources.LINKED_ELSEWHERE}: rows {row.pk} (user {old_user.pk})" in report
    assert links() == [(bob.pk, "acme", "ann-at-acme")]


def test_link_made_here_is_never_overwritten(run, old_user):
    storage.links().add(link(old_user, "other-identity"))
    social(old_user, "old", "ann-at-acme")

    assert f"Conflict: {sources.SECOND}" in run(*MAPPED)
    assert links() == [(old_user.pk, "acme", "other-identity")]


def test_subjects_that_differ_in_case_are_two_links(run, old_user):
    bob = make_user("bob@example.com")
    storage.links().add(link(bob, "ANN-AT-ACME"))
    social(old_user, "old", "ann-at-acme")

    run(*MAPPED)

    assert sorted(one[2] for one in links()) == ["ANN-AT-ACME", "ann-at-acme"]


def test_link_of_an_inactive_user_is_imported_and_does_not_log_in(run, browser, old_user):
    deactivate()
    social(old_user, "old", "ann-at-acme")

    assert "1 imported" in run(*MAPPED)
    assert browser.sign_in().status in (401, 403)


@pytest.mark.skipif(connection.vendor != "sqlite", reason="other databases check each statement")
@pytest.mark.django_db(transaction=True)
def test_link_of_a_deleted_user_is_skipped(run, old_user):
    row = social(old_user, "old", "ann-at-acme")
    with connection.constraint_checks_disabled():
        type(old_user).objects.filter(pk=old_user.pk)._raw_delete("default")

    report = run(*MAPPED)
    type(row).objects.all()._raw_delete("default")

    assert "Skipped: the user does not exist" in report
    assert links() == []


def test_link_from_before_a_proof_of_the_address_is_skipped(run, api, browser, post, old_user):
    """An attacker's link would come back after the owner has removed all earlier access."""
    browser.sign_in()  # the provider has verified the address, which is the first proof here
    social(old_user, "google-oauth2", "1")
    arguments = ("social_django", "--map", "google-oauth2=google")

    assert "Skipped: the address of the account was proven here later" in run(*arguments)

    account = Account.objects.filter(user=old_user)
    account.update(email_proven_at=OLD - timedelta(days=1))
    assert "1 imported" in run(*arguments)


def test_proof_that_removed_nothing_keeps_links_importable(run, configure, browser, post, old_user):
    configure(CORE={"WIPE_UNPROVEN": False})
    browser.sign_in()
    social(old_user, "google-oauth2", "1")

    assert "1 imported" in run("social_django", "--map", "google-oauth2=google")


def test_first_proof_of_the_address_removes_an_imported_link(run, api, browser, post, old_user):
    """Pre-hijacking in the other package: the attacker's provider on an account in Ann's name."""
    social(old_user, "google-oauth2", "1")
    run("social_django", "--map", "google-oauth2=google")

    browser.sign_in()  # Ann, with another provider that has verified her address

    assert [one[1:] for one in links()] == [("acme", "ann-at-acme")]


def test_link_of_a_user_who_never_logged_in_is_imported_until_the_first_proof(run, browser, post):
    """djoser logs in without Django's `login`, so `last_login` does not tell who has a link of
    their own. allauth stores a link before it has confirmed the address of the sign-up."""
    ann = make_user(password=None)
    allauth(ann, "google", "1")

    assert "1 imported" in run("allauth", "--map", "google=google")
    browser.sign_in()

    assert [one[1] for one in links()] == ["acme"]


@pytest.mark.parametrize(("age", "removed"), [(1, True), (4, False)])
def test_recovery_removes_imported_links_of_the_last_days(run, old_user, age, removed):
    now = timezone.now()
    social(old_user, "old", "ann-at-acme", created=now - timedelta(days=age))
    run(*MAPPED)

    with transaction.atomic():
        evicted = eviction.account_access.recover(
            lookup.get_person(old_user), now - timedelta(hours=72)
        )

    assert evicted is removed
    assert LinkedAccount.objects.exists() is not removed


def test_each_link_is_recorded_as_made_by_the_operator(run, old_user, recorded):
    social(old_user, "old", "ann-at-acme")

    run(*MAPPED)
    run(*MAPPED)

    (event,) = recorded
    assert (event.action, event.user, event.actor_type) == ("auth.oauth.linked", None, "system")
    assert event.target == old_user
    assert event.metadata == {"provider": "acme", "reason": "import"}


def test_only_rows_added_since_a_day_are_read(run, old_user):
    social(old_user, "old", "ann-at-acme")
    social(make_user("bob@example.com"), "old", "bob-at-acme", created=timezone.now())

    assert "1 row read, 1 imported" in run(*MAPPED, "--since", "2025-01-01")
    assert [one[2] for one in links()] == ["bob-at-acme"]


def test_storage_of_the_project_gets_the_links(run, old_user, oauth):
    kept = Links.kept = []
    oauth(OAUTH_STORAGE=f"{__name__}.Links")
    social(old_user, "old", "ann-at-acme")
    social(old_user, "old", "ann-again")

    assert "1 imported, 0 already there, 1 conflict" in run(*MAPPED)
    assert "0 imported, 1 already there, 1 conflict" in run(*MAPPED)
    assert [one.subject for one in kept] == ["ann-at-acme"]
    assert links() == []


class Links:
    """Links in memory."""

    kept: list = []

    def find(self, provider, subject):
        return next((one for one in self.kept if one.subject == subject), None)

    def of_user(self, user_id):
        return [one for one in self.kept if one.user_id == user_id]

    def add(self, link):
        self.kept.append(link)
