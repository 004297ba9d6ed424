"""Addresses and names that several users claim, and users who have no account yet."""

import pytest
from django.contrib.auth import get_user_model
from django.db import connection

from authservice.core.models import Account
from authservice.core.users import lookup
from authservice.core.users.sync import sync
from tests.client import PASSWORD
from tests.people import change, email_field, has, make_user, the_user, unsaved

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


def settle():
    """Run the sync, which assigns a shared address to no user."""
    sync(batch_size=100, dry_run=False, progress=lambda done, total: None)


def available(api, **asked):
    return api.post("is-available", **asked).data["available"]


@pytest.fixture
def twins():
    """Two users who share an address that, after a sync, neither of them holds."""
    made = make_user(ANN, username="first"), make_user(ANN, username="second")
    settle()
    assert not Account.objects.exclude(email_key=None).exists()
    return made


@shared_addresses
def test_signup_with_an_address_that_nobody_holds_but_two_share_is_refused(api, twins):
    answer = api.post("signup", email=ANN, password=PASSWORD)

    assert answer.error == (400, "USER_ALREADY_EXISTS")


@shared_addresses
def test_address_that_two_share_is_not_available(api, twins):
    assert available(api, email=ANN) is False


@shared_addresses
def test_holder_keeps_the_address_that_another_claims(api):
    ann = make_user(ANN, username="first")
    make_user(ANN, username="second")
    get_user_model().objects.filter(pk=ann.pk).update(username="renamed")
    log_in(api, username="renamed")  # which brings the copies in step

    assert log_in(api, email=ANN).data["user"]["id"] == str(ann.pk)


@usernames
def test_username_changed_by_a_query_logs_in_no_more(api):
    make_user(username="first")
    change(username="renamed")

    assert log_in(api, username="first").error == WRONG
    assert log_in(api, username="renamed").status == 200


@usernames
@pytest.mark.skipif(connection.vendor == "mysql", reason="its usernames are unique in any case")
def test_username_that_is_free_again_is_taken_up(api):
    ann = make_user(ANN, username="shared")
    make_user("bob@example.com", username="second")
    change("bob@example.com", username="Shared")
    log_in(api, email="bob@example.com")  # which brings the copies in step
    bob = the_user("bob@example.com")
    assert Account.objects.get(user=bob).username_key is None

    ann.username = "other"
    ann.save()
    bob.save()

    assert log_in(api, username="shared").data["user"]["id"] == str(bob.pk)


@pytest.fixture
def unnoticed(monkeypatch):
    """Another claims the key between the look at the table and the write."""
    monkeypatch.setattr(lookup, "_drop_contested", lambda *args, **more: None)


@shared_addresses
def test_user_adopted_while_another_takes_the_address_logs_in_by_username(api, unnoticed):
    make_user(ANN, username="first")
    get_user_model().objects.bulk_create([unsaved(ANN, username="second")])

    answer = log_in(api, username="second")

    assert answer.status == 200
    assert Account.objects.get(pk=answer.data["user"]["id"]).email_key is None


@shared_addresses
def test_user_who_moves_while_another_takes_the_address_logs_in_by_username(api, unnoticed):
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
