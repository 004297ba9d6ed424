"""Addresses and names that several users claim, and users without an account."""

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import RequestFactory

from authservice.core.models import Account
from authservice.core.staff.login_form import AdminAuthenticationForm
from authservice.core.users import identifiers, lookup
from authservice.core.users.sync import sync
from tests.support.client import PASSWORD
from tests.support.flows import prove
from tests.support.people import change, email_field, has, make_user, the_user, unsaved

pytestmark = pytest.mark.django_db

ANN, BOB = "ann@example.com", "bob@example.com"
WRONG = (401, "INVALID_CREDENTIALS")

shared_addresses = pytest.mark.skipif(
    get_user_model()._meta.get_field(email_field()).unique,
    reason="no two of its users share an address",
)
NATURAL = get_user_model().USERNAME_FIELD
natural_usernames = pytest.mark.skipif(
    NATURAL != "username", reason="its users without an account are not found by username"
)
natural_addresses = pytest.mark.skipif(
    email_field() != NATURAL, reason="its users without an account are not found by address"
)
any_case = pytest.mark.skipif(
    connection.vendor == "mysql", reason="its natural keys are unique in any case"
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
    monkeypatch.setattr("authservice.core.users.person._drop_contested", lambda *args, **more: None)


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


@pytest.fixture
def key_taken(monkeypatch):
    """`key_taken(username="anna")` assigns the key to a user whose claim on it is not yet visible,
    as a concurrent request does."""

    def take(**key):
        other = make_user("zed@example.com", username="zed")
        ((kind, text),) = key.items()
        value = getattr(identifiers, f"{kind}_key")(text)
        Account.objects.filter(user=other).update(**{f"{kind}_key": value})

    return take


@usernames
def test_user_whose_new_username_is_taken_meanwhile_logs_in_by_address(api, key_taken):
    make_user(ANN, username="first")
    change(ANN, username="renamed")
    key_taken(username="renamed")

    assert log_in(api, email=ANN).status == 200
    assert log_in(api, email=ANN).status == 200
    account = Account.objects.get(user=the_user(ANN))
    assert (account.username, account.username_key) == ("renamed", None)


@usernames
def test_user_whose_new_address_is_taken_meanwhile_keeps_the_username(api, key_taken):
    make_user(ANN, username="first")
    change(ANN, **{email_field(): BOB})
    key_taken(email=BOB)

    assert lookup.find_by_username("first").email == BOB
    account = Account.objects.get(user=the_user(BOB))
    assert account.email_key is None
    assert account.username_key == identifiers.username_key("first")


@usernames
def test_both_identifiers_that_are_taken_meanwhile_are_not_assigned(key_taken):
    ann = make_user(ANN, username="first")
    change(ANN, username="renamed", **{email_field(): BOB})
    key_taken(username="renamed")
    Account.objects.filter(username="zed").update(email_key=identifiers.email_key(BOB))

    lookup.get_person(ann)

    account = Account.objects.get(user=ann)
    assert (account.email, account.email_key, account.username_key) == (BOB, None, None)


@usernames
@pytest.mark.parametrize("taken", ["email", "username"])
def test_adopted_user_with_one_taken_identifier_has_the_other_one(key_taken, taken):
    get_user_model().objects.bulk_create([unsaved(ANN, username="first")])
    key_taken(**{taken: {"email": ANN, "username": "first"}[taken]})

    lookup.get_person(the_user(ANN))

    account = Account.objects.get(user=the_user(ANN))
    keys = {"email": account.email_key, "username": account.username_key}
    assert keys.pop(taken) is None
    assert all(keys.values())


@pytest.fixture
def chief():
    """A user whom the host project inserted without a signal, so there is no account."""
    user = unsaved("chief@example.com", username="chief")
    get_user_model().objects.bulk_create([user])
    assert not Account.objects.exists()
    return the_user("chief@example.com")


@pytest.fixture
def impostor(chief):
    """A user with the same name in another case, who has the account with the key."""
    return make_user("eve@example.com", username="Chief", password="second plum tart")


@natural_usernames
@any_case
@pytest.mark.parametrize("with_account", [False, True])
def test_username_as_the_host_stores_it_logs_in_its_user(api, chief, impostor, with_account):
    if with_account:
        lookup.get_person(chief)

    assert log_in(api, username="chief").data["user"]["id"] == str(chief.pk)
    again = api.post("login", username="chief", password="second plum tart")
    assert again.error == WRONG
    other = api.post("login", username="Chief", password="second plum tart")
    assert other.data["user"]["id"] == str(impostor.pk)


@natural_usernames
@any_case
def test_username_as_the_host_stores_it_logs_in_at_django_admin(chief, impostor):
    change("chief@example.com", is_staff=True)
    change("eve@example.com", is_staff=True)

    def log_in_as(username, password):
        data = {"username": username, "password": password}
        form = AdminAuthenticationForm(RequestFactory().post("/admin/login/"), data)
        return form.get_user() if form.is_valid() else None

    assert log_in_as("chief", PASSWORD) == chief
    assert log_in_as("Chief", "second plum tart") == impostor
    assert log_in_as("chief", "second plum tart") is None


@natural_usernames
@pytest.mark.parametrize(
    ("stored", "typed"),
    [("chief", "chief"), ("chief", "CHIEF"), ("Chief", "chief"), ("CHIEF", "Chief")],
)
def test_username_of_a_user_without_an_account_is_taken_in_each_case(api, stored, typed):
    token = api.sign_up()["access_token"]
    user = unsaved("chief@example.com", username=stored)
    get_user_model().objects.bulk_create([user])

    signed_up = api.post("signup", email=BOB, username=typed, password=PASSWORD)
    body = {"username": typed, "password": PASSWORD}
    renamed = api.request("PUT", "change-username", body, token=token)

    assert signed_up.error == renamed.error == (400, "USERNAME_ALREADY_EXISTS")
    assert available(api, username=typed) is False
    assert available(api, username="chieftain") is True


@natural_usernames
def test_username_that_a_signup_generates_differs_from_one_without_an_account(api, chief):
    answer = api.sign_up("CHIEF@example.org")

    assert answer["user"]["username"].startswith("CHIEF-")


@natural_addresses
@any_case
@pytest.mark.parametrize(("verified", "holds"), [(False, False), (True, True)])
def test_address_in_another_case_is_its_holders_if_verified(api, verified, holds):
    holder = make_user("ann@example.com")
    if verified:
        prove()
    get_user_model().objects.bulk_create([unsaved("ANN@example.com")])
    other = the_user("ANN@example.com")

    found = lookup.find_by_email("ANN@example.com")

    assert found.user.pk == (holder if holds else other).pk


def test_natural_key_of_a_user_without_an_account_is_not_available(api):
    get_user_model().objects.bulk_create([unsaved(ANN)])
    user = the_user()
    kind = "email" if email_field() == user.USERNAME_FIELD else "username"

    assert not Account.objects.exists()

    assert available(api, **{kind: user.get_username()}) is False
