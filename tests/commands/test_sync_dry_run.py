"""A dry run of the sync prints the numbers of the run that follows it, and writes nothing."""

import re

import pytest
from django.contrib.auth import get_user_model
from django.db.models import F

from authservice.core.models import Account
from tests.commands import proofs
from tests.commands.proofs import ANN, BOB, CARL, old
from tests.support.people import email_field, has, make_user

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(
        get_user_model()._meta.get_field(email_field()).unique,
        reason="no two of its users share an address",
    ),
    pytest.mark.skipif(not has("date_joined"), reason="its users have no date_joined"),
]

NAMED = "tests.commands.proofs.named"
UPPER = "ANN@example.com"


def move(user, email):
    """Give the user another address without any signal, as a script does."""
    get_user_model().objects.filter(pk=user.pk).update(**{email_field(): email})


def prove(user):
    rows = Account.objects.filter(user=user)
    rows.update(verified_email_key=F("email_key"), proven_email_key=F("email_key"))


def users_without_accounts():
    old(ANN), old(BOB)


def users_without_accounts_who_share_an_address():
    old(ANN, username="ann"), old(UPPER, username="upper"), old(BOB, username="bob")


def users_with_accounts_who_share_an_address():
    for email, name in ((ANN, "ann"), (UPPER, "upper"), (BOB, "bob")):
        make_user(email, username=name, date_joined=proofs.LONG_AGO)


def shared_address_whose_holder_is_verified():
    holder = make_user(ANN, username="ann", date_joined=proofs.LONG_AGO)
    Account.objects.filter(user=holder).update(verified_email_key=F("email_key"))
    old(UPPER, username="upper")


def shared_address_whose_other_user_has_proven_it():
    old(ANN, username="left-out"), old(UPPER, username="upper")


def shared_address_of_a_user_who_held_it_alone():
    make_user(ANN, username="left-out"), old(UPPER, username="upper")


def users_without_a_password():
    old(ANN, password=None), old(BOB), old(CARL, password=None, username="left-out")


def inactive_users():
    old(ANN, is_active=False), old(BOB)


def proven_addresses():
    prove(make_user(ANN, date_joined=proofs.LONG_AGO))
    old(BOB)


def changed_addresses():
    ann = make_user(ANN, username="ann", date_joined=proofs.LONG_AGO)
    bob = make_user(BOB, username="bob", date_joined=proofs.LONG_AGO)
    carl = make_user(CARL, username="left-out", date_joined=proofs.LONG_AGO)
    for user in (ann, carl):
        prove(user)
    move(ann, "new@example.com")
    move(bob, "other@example.com")
    move(carl, "third@example.com")


def swapped_addresses():
    ann, bob = make_user(ANN, username="ann"), make_user(BOB, username="bob")
    prove(ann)
    move(ann, BOB)
    move(bob, ANN)


def address_that_moves_to_a_user_who_shares_it():
    ann, bob = make_user(ANN, username="ann"), make_user(BOB, username="bob")
    move(bob, UPPER)
    move(ann, CARL)
    old("CARL@example.com", username="left-out")


WORLDS = [
    users_without_accounts,
    users_without_accounts_who_share_an_address,
    users_with_accounts_who_share_an_address,
    shared_address_whose_holder_is_verified,
    shared_address_whose_other_user_has_proven_it,
    shared_address_of_a_user_who_held_it_alone,
    users_without_a_password,
    inactive_users,
    proven_addresses,
    changed_addresses,
    swapped_addresses,
    address_that_moves_to_a_user_who_shares_it,
]


@pytest.fixture
def received(monkeypatch):
    """The users that the function of the project received, by their primary keys."""
    received: list = []

    def answer(users):
        received.extend(user.pk for user in users)
        return [
            (user.pk, getattr(user, email_field())) for user in users if user.username != "left-out"
        ]

    monkeypatch.setattr(proofs, "answer", answer)
    return received


def comparable(output):
    """Without the verbs, and the times that were measured."""
    lines = [line for line in output.splitlines() if "ms per check" not in line]
    return [re.sub(r"\b(would be|was|were)\b", "…", line) for line in lines]


@pytest.mark.parametrize("size", ["1", "1000"])
@pytest.mark.parametrize("verified", ["none", "all", NAMED])
@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.__name__)
def test_dry_run_prints_the_numbers_of_the_run(run, received, world, verified, size):
    world()
    before = list(Account.objects.order_by("pk").values())
    options = ("authservice_sync_accounts", "--verified", verified, "--batch-size", size)

    would = run(*options, "--dry-run")

    assert list(Account.objects.order_by("pk").values()) == before
    given = received.copy()
    received.clear()
    assert comparable(would) == comparable(run(*options))
    assert received == given


def test_dry_run_does_not_count_an_address_that_users_share(run):
    users_without_accounts_who_share_an_address()

    output = run("authservice_sync_accounts", "--verified", "all", "--dry-run")

    assert "1 address would be marked as proven." in output
    assert f"2 addresses are {proofs.UNPROVEN}" in output
