"""The sync creates accounts, moves keys, and assigns a shared identifier only to a user who proved
it."""

import pytest
from django.contrib.auth import get_user_model
from django.db.models import F

from authservice.core.models import Account
from authservice.core.users import identifiers
from tests.client import PASSWORD
from tests.people import change, email_field, make_user, unsaved

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(
        get_user_model()._meta.get_field(email_field()).unique,
        reason="no two of its users share an address",
    ),
]

ANN, BOB = "ann@example.com", "bob@example.com"
WRONG = (401, "INVALID_CREDENTIALS")


def log_in(api, email):
    return api.post("login", email=email, password=PASSWORD)


def move(user, email):
    """Give a user another address without any signal, as a script does."""
    type(user).objects.filter(pk=user.pk).update(**{email_field(): email})


def swap():
    """Ann and Bob, who swapped their addresses without a signal."""
    ann, bob = make_user(ANN), make_user(BOB)
    move(ann, BOB)
    move(bob, ANN)
    return ann, bob


def prove(user):
    Account.objects.filter(user=user).update(verified_email_key=F("email_key"))


def holder(email):
    """Primary key of the user who holds the key of an address."""
    key = identifiers.email_key(email)
    return Account.objects.filter(email_key=key).values_list("user", flat=True).first()


@pytest.fixture
def twins():
    """Two users with one address."""
    return make_user(ANN, username="first"), make_user("ANN@example.com", username="second")


def test_sync_makes_the_accounts_that_are_missing(api, run):
    get_user_model().objects.bulk_create([unsaved(ANN)])

    said = run("authservice_sync_accounts")

    assert said.startswith("1 users: 1 accounts were created, 0 were updated.\n")
    assert log_in(api, ANN).status == 200


def test_dry_run_writes_nothing(run):
    swap()
    make_user("carl@example.com")
    change("carl@example.com", **{email_field(): "carl@example.org"})
    get_user_model().objects.bulk_create([unsaved("dora@example.com")])
    before = list(Account.objects.order_by("pk").values())

    said = run("authservice_sync_accounts", "--dry-run")

    assert said.startswith("4 users: 1 accounts would be created, 3 would be updated.\n")
    assert list(Account.objects.order_by("pk").values()) == before


def test_dry_run_counts_what_the_sync_then_does(run):
    swap()
    get_user_model().objects.bulk_create([unsaved("dora@example.com")])

    promised = run("authservice_sync_accounts", "--dry-run").partition("\n")[0]

    done = run("authservice_sync_accounts").partition("\n")[0]
    assert done == promised.replace("would be", "were")


@pytest.mark.parametrize("size", ["1", "1000"])
def test_users_who_swapped_addresses_are_found_by_the_new_ones(api, run, size):
    ann, bob = swap()

    run("authservice_sync_accounts", "--batch-size", size)

    assert log_in(api, BOB).data["user"]["id"] == str(ann.pk)
    assert log_in(api, ANN).data["user"]["id"] == str(bob.pk)


def test_moved_user_is_found_by_the_new_address(api, run):
    ann = make_user(ANN)
    move(ann, "new@example.com")

    run("authservice_sync_accounts")

    assert log_in(api, "new@example.com").data["user"]["id"] == str(ann.pk)
    assert log_in(api, ANN).error == WRONG


@pytest.mark.parametrize("size", ["1", "1000"])
def test_shared_address_is_given_to_nobody(api, run, twins, size):
    said = run("authservice_sync_accounts", "--batch-size", size)

    first, second = twins
    assert holder(ANN) is None
    assert f"Contested email 'ann@example.com': users {first.pk}, {second.pk}\n" in said
    assert log_in(api, ANN).error == WRONG


def test_shared_address_of_users_without_accounts_is_given_to_nobody(run):
    rows = [unsaved(ANN, username="first"), unsaved(ANN, username="second")]
    get_user_model().objects.bulk_create(rows)

    said = run("authservice_sync_accounts")

    assert holder(ANN) is None
    assert "Contested email 'ann@example.com'" in said


def test_users_who_share_an_address_log_in_by_username(api, run, twins):
    run("authservice_sync_accounts")

    for user in twins:
        answer = api.post("login", username=user.username, password=PASSWORD)
        assert answer.data["user"]["id"] == str(user.pk)


def test_shared_address_stays_with_the_user_who_verified_it(api, run, twins):
    first, second = twins
    prove(first)

    said = run("authservice_sync_accounts")

    assert holder(ANN) == first.pk
    assert "Contested email" in said


def test_shared_address_is_not_given_to_a_user_who_verified_another(run):
    ann = make_user("old@example.com", username="first")
    prove(ann)
    make_user(ANN, username="second")
    move(ann, ANN)

    run("authservice_sync_accounts")

    assert holder(ANN) is None
    assert Account.objects.get(user=ann).email_key is None
