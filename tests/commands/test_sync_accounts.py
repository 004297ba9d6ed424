"""The sync creates accounts, moves keys, and assigns a shared identifier only to a user with the
verified identifier."""

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.db.models import F

from authservice.core.models import Account
from authservice.core.users import identifier_change, identifiers, lookup, sync
from authservice.core.users.identifiers import EMAIL
from tests.support.client import PASSWORD
from tests.support.people import change, email_field, make_user, the_user, unsaved

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
    """Create Ann and Bob and swap their addresses without a signal."""
    ann, bob = make_user(ANN), make_user(BOB)
    move(ann, BOB)
    move(bob, ANN)
    return ann, bob


def verify(user):
    Account.objects.filter(user=user).update(verified_email_key=F("email_key"))


def owner(email):
    """Primary key of the user to whom the key of an address is assigned."""
    key = identifiers.email_key(email)
    return Account.objects.filter(email_key=key).values_list("user", flat=True).first()


@pytest.fixture
def sharing_users():
    """Two users with one address."""
    return make_user(ANN, username="first"), make_user("ANN@example.com", username="second")


def test_sync_creates_missing_accounts(api, run):
    get_user_model().objects.bulk_create([unsaved(ANN)])

    output = run("authservice_sync_accounts")

    assert output.startswith("1 user: 1 account was created, 0 were updated.\n")
    assert log_in(api, ANN).status == 200


def test_sync_dry_run_writes_nothing(run):
    swap()
    make_user("carl@example.com")
    change("carl@example.com", **{email_field(): "carl@example.org"})
    get_user_model().objects.bulk_create([unsaved("dora@example.com")])
    before = list(Account.objects.order_by("pk").values())

    output = run("authservice_sync_accounts", "--dry-run")

    assert output.startswith("4 users: 1 account would be created, 3 would be updated.\n")
    assert list(Account.objects.order_by("pk").values()) == before


def test_sync_dry_run_counts_the_changes_of_the_sync(run):
    swap()
    get_user_model().objects.bulk_create([unsaved("dora@example.com")])

    dry_run = run("authservice_sync_accounts", "--dry-run").partition("\n")[0]

    done = run("authservice_sync_accounts").partition("\n")[0]
    assert done == dry_run.replace("account would be", "account was").replace("would be", "were")


@pytest.mark.parametrize("size", ["1", "1000"])
def test_sync_finds_users_with_swapped_addresses_by_the_new_ones(api, run, size):
    ann, bob = swap()

    run("authservice_sync_accounts", "--batch-size", size)

    assert log_in(api, BOB).data["user"]["id"] == str(ann.pk)
    assert log_in(api, ANN).data["user"]["id"] == str(bob.pk)


def test_sync_finds_user_with_changed_address_by_the_new_one(api, run):
    ann = make_user(ANN)
    move(ann, "new@example.com")

    run("authservice_sync_accounts")

    assert log_in(api, "new@example.com").data["user"]["id"] == str(ann.pk)
    assert log_in(api, ANN).error == WRONG


@pytest.mark.parametrize("size", ["1", "1000"])
def test_sync_assigns_shared_address_to_no_user(api, run, sharing_users, size):
    output = run("authservice_sync_accounts", "--batch-size", size)

    first, second = sharing_users
    assert owner(ANN) is None
    named = f"users {first.pk} ({first.username!r}), {second.pk} ({second.username!r})\n"
    assert f"Contested email 'ann@example.com': {named}" in output
    assert "No user can log in with an e-mail address that several users share" in output
    assert "share a username" not in output
    assert log_in(api, ANN).error == WRONG


def test_sync_names_only_the_first_of_many_users_with_shared_address(run):
    rows = [unsaved(ANN, username=f"user{number}") for number in range(12)]
    get_user_model().objects.bulk_create(rows)

    output = run("authservice_sync_accounts")

    assert "('user9') and 2 more\n" in output
    assert "user10" not in output


def test_sync_assigns_shared_address_of_users_without_accounts_to_no_user(run):
    rows = [unsaved(ANN, username="first"), unsaved(ANN, username="second")]
    get_user_model().objects.bulk_create(rows)

    output = run("authservice_sync_accounts")

    assert owner(ANN) is None
    assert "Contested email 'ann@example.com'" in output


def test_sync_lets_users_with_shared_address_log_in_by_username(api, run, sharing_users):
    run("authservice_sync_accounts")

    for user in sharing_users:
        answer = api.post("login", username=user.username, password=PASSWORD)
        assert answer.data["user"]["id"] == str(user.pk)


@pytest.mark.skipif(connection.vendor == "mysql", reason="its usernames are unique in any case")
def test_sync_says_which_logins_a_shared_identifier_leaves(api, run):
    """Usernames that differ in spelling log in with the exact one."""
    make_user("first@example.com", username="User14")
    make_user("second@example.com", username="user14")

    output = run("authservice_sync_accounts")

    assert "Users who share a username log in with its exact spelling" in output
    assert "No user can log in" not in output
    for name in ("User14", "user14"):
        answer = api.post("login", username=name, password=PASSWORD)
        assert answer.data["user"]["username"] == name


def test_sync_keeps_shared_address_of_the_user_with_verified_address(api, run, sharing_users):
    first, second = sharing_users
    verify(first)

    output = run("authservice_sync_accounts")

    assert owner(ANN) == first.pk
    assert "Contested email" in output


def test_sync_does_not_assign_shared_address_to_user_with_another_verified(run):
    ann = make_user("old@example.com", username="first")
    verify(ann)
    make_user(ANN, username="second")
    move(ann, ANN)

    run("authservice_sync_accounts")

    assert owner(ANN) is None
    assert Account.objects.get(user=ann).email_key is None


class Aborted(Exception):
    pass


@pytest.fixture
def run_aborted_sync():
    """Call it to run a sync that is aborted after it has released the keys that move."""

    def progress(done, steps):
        if done * 3 >= steps * 2:
            raise Aborted

    def run():
        with pytest.raises(Aborted):
            sync.sync(batch_size=1000, dry_run=False, progress=progress)

    return run


def test_aborted_sync_keeps_address_of_user_with_changed_username(api, run_aborted_sync):
    ann = make_user(ANN, username="first")
    change(ANN, username="renamed")

    run_aborted_sync()

    assert owner(ANN) == ann.pk
    assert log_in(api, ANN).data["user"]["id"] == str(ann.pk)


def test_aborted_sync_keeps_username_of_user_with_changed_address(run_aborted_sync):
    ann = make_user(ANN, username="first")
    move(ann, BOB)

    run_aborted_sync()

    account = Account.objects.get(user=ann)
    assert (account.username_key, account.email_key) == (identifiers.username_key("first"), None)


@pytest.fixture
def during_sync(monkeypatch):
    """`during_sync(action)` calls the action in the write pass, after the batch was read."""
    sync_batch = sync._sync_batch

    def schedule(action):
        def interrupted(users, report, **options):
            if options["write"]:
                action()
            sync_batch(users, report, **options)

        monkeypatch.setattr(sync, "_sync_batch", interrupted)

    return schedule


def test_sync_keeps_address_that_the_user_changes_meanwhile(run, during_sync):
    ann = make_user(ANN, username="first")
    change(ANN, username="renamed")
    during_sync(
        lambda: identifier_change.replace(lookup.get_person(the_user()), EMAIL, "new@example.com")
    )

    run("authservice_sync_accounts")

    assert owner("new@example.com") == ann.pk
    assert Account.objects.get(user=ann).email == "new@example.com"


def test_sync_continues_if_a_user_is_deleted_meanwhile(run, during_sync):
    get_user_model().objects.bulk_create([unsaved(ANN), unsaved(BOB)])
    during_sync(lambda: the_user(ANN).delete())

    run("authservice_sync_accounts")

    assert Account.objects.get().user_id == the_user(BOB).pk
