"""Addresses and names that several users claim, and users without an account."""

import pytest
from django.contrib.auth import get_user_model
from django.db import connection

from authservice.core.models import Account
from authservice.core.users import lookup
from authservice.core.users.sync import sync
from tests.support.client import PASSWORD
from tests.support.people import change, email_field, has, make_user, the_user, unsaved

pytestmark = pytest.mark.django_db

ANN = "ann@example.com"
WRONG = (401, "INVALID_CREDENTIALS")

shared_addresses = pytest.mark.skipif(
    get_user_model()._meta.get_field(email_field()).unique,
    reason="no two of its users share an address",
)
usernames = pytest.mark.skipif(not has("username"), reason="its users have no username")


def log_in(api, **body):
    return api.post("login", password=PASSWORD, **body)


def run_sync():
    """Run the sync, which assigns a shared address to no user."""
    sync(batch_size=100, dry_run=False, progress=lambda done, total: None)


def available(api, **identifier):
    return api.post("is-available", **identifier).data["available"]


@pytest.fixture
def two_users():
    """Two users who share an address that, after a sync, neither of them holds."""
    made = make_user(ANN, username="first"), make_user(ANN, username="second")
    run_sync()
    assert not Account.objects.exclude(email_key=None).exists()
    return made


@shared_addresses
def test_signup_with_an_address_that_two_users_share_is_refused(api, two_users):
    answer = api.post("signup", email=ANN, password=PASSWORD)

    assert answer.error == (400, "USER_ALREADY_EXISTS")


@shared_addresses
def test_address_that_two_users_share_is_not_available(api, two_users):
    assert available(api, email=ANN) is False


@shared_addresses
def test_holder_keeps_the_address_that_another_user_claims(api):
    ann = make_user(ANN, username="first")
    make_user(ANN, username="second")
    get_user_model().objects.filter(pk=ann.pk).update(username="renamed")
    log_in(api, username="renamed")  # updates the copies of the identifiers

    assert log_in(api, email=ANN).data["user"]["id"] == str(ann.pk)


@usernames
def test_username_replaced_by_a_query_no_longer_logs_in(api):
    make_user(username="first")
    change(username="renamed")

    assert log_in(api, username="first").error == WRONG
    assert log_in(api, username="renamed").status == 200


@usernames
@pytest.mark.skipif(connection.vendor == "mysql", reason="its usernames are unique in any case")
def test_username_that_is_free_again_is_assigned_to_the_user_who_claims_it(api):
    ann = make_user(ANN, username="shared")
    make_user("bob@example.com", username="second")
    change("bob@example.com", username="Shared")
    log_in(api, email="bob@example.com")  # updates the copies of the identifiers
    bob = the_user("bob@example.com")
    assert Account.objects.get(user=bob).username_key is None

    ann.username = "other"
    ann.save()
    bob.save()

    assert log_in(api, username="shared").data["user"]["id"] == str(bob.pk)


@pytest.fixture
def conflict_undetected(monkeypatch):
    """Another user claims the key between the check of the table and the write."""
    monkeypatch.setattr(lookup, "_drop_contested", lambda *args, **more: None)


@shared_addresses
def test_user_adopted_while_another_user_takes_the_address_logs_in_by_username(
    api, conflict_undetected
):
    make_user(ANN, username="first")
    get_user_model().objects.bulk_create([unsaved(ANN, username="second")])

    answer = log_in(api, username="second")

    assert answer.status == 200
    assert Account.objects.get(pk=answer.data["user"]["id"]).email_key is None


@shared_addresses
def test_user_whose_new_address_is_taken_meanwhile_logs_in_by_username(api, conflict_undetected):
    make_user(ANN, username="first")
    make_user("bob@example.com", username="second")
    change("bob@example.com", **{email_field(): ANN})

    answer = log_in(api, username="second")

    assert answer.status == 200
    assert Account.objects.get(pk=answer.data["user"]["id"]).email_key is None


def test_natural_key_of_a_user_without_an_account_is_not_available(api):
    get_user_model().objects.bulk_create([unsaved(ANN)])
    user = the_user()
    kind = "email" if email_field() == user.USERNAME_FIELD else "username"

    assert not Account.objects.exists()

    assert available(api, **{kind: user.get_username()}) is False
