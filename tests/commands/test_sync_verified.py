"""Addresses that a function of the project names count as proven, and the others are reported."""

import pytest
from django.contrib.auth import get_user_model
from django.core.management.base import CommandError
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from authservice.core.models import Account
from authservice.core.users import lookup
from tests.commands import proofs
from tests.commands.proofs import ANN, BOB, CARL, UNPROVEN, old, proven
from tests.support.people import change, email_field, make_user

pytestmark = pytest.mark.django_db

NAMED = "tests.commands.proofs.named"

shares_addresses = pytest.mark.skipif(
    get_user_model()._meta.get_field(email_field()).unique,
    reason="no two of its users share an address",
)


@pytest.fixture
def sync(run):
    return lambda *options: run("authservice_sync_accounts", *options)


@pytest.fixture
def named(monkeypatch):
    """`named((user.pk, ANN))`: what the function of the project returns. The fixture has the
    batches that the function received."""

    class Named:
        batches: list = []

        def __call__(self, *pairs):
            self.pairs = pairs

    known = Named()
    known.batches, known.pairs = [], ()

    def answer(users):
        known.batches.append([user.pk for user in users])
        return known.pairs

    monkeypatch.setattr(proofs, "answer", answer)
    return known


def test_sync_without_verified_proves_nothing_and_warns(sync):
    ann = old()
    name_them = "Name the addresses that your project has verified with --verified."

    assert f"1 address is {UNPROVEN}" in sync()

    assert not proven(ann)
    for printed in (sync(), sync("--verified", "none")):
        assert "1 address is unproven" in printed
        assert name_them in printed


def test_sync_with_named_addresses_does_not_ask_for_them_again(sync, named):
    ann, _ = old(), old(BOB)
    named((ann.pk, ANN))

    for options in (("--dry-run",), ()):
        printed = sync("--verified", NAMED, *options)
        assert "1 address is unproven" in printed
        assert "That is right for addresses that your project has not verified." in printed
        assert "Name the addresses" not in printed


def test_function_names_the_proven_addresses(sync, named):
    ann, bob = old(), old(BOB)
    named((ann.pk, ANN))

    output = sync("--verified", NAMED)

    assert "1 address was marked as proven." in output
    assert f"1 address is {UNPROVEN}" in output
    assert (proven(ann), proven(bob)) == (True, False)


def test_function_receives_each_batch_once(sync, named):
    users = [old(f"user{number}@example.com") for number in range(5)]

    sync("--verified", NAMED, "--batch-size", "2")

    batches = sorted(sorted(map(str, batch)) for batch in named.batches)
    assert sorted(map(len, batches)) == [1, 2, 2]
    assert sorted(sum(batches, [])) == sorted(str(user.pk) for user in users)


def test_function_does_not_receive_users_with_a_proven_address(sync, named):
    ann = old()
    named((ann.pk, ANN))
    sync("--verified", NAMED)
    named.batches.clear()

    assert "0 addresses were marked" in sync("--verified", NAMED)
    assert named.batches == []


def test_other_spelling_of_the_address_proves_it(sync, named):
    ann = old("Ann@Example.com")
    named((ann.pk, "ann@EXAMPLE.com"))

    sync("--verified", NAMED)

    assert proven(ann)


def test_other_address_of_the_user_proves_nothing(sync, named):
    ann = old()
    named((ann.pk, "second@example.com"), (ann.pk, ""))

    sync("--verified", NAMED)

    assert not proven(ann)


def test_user_outside_the_batch_is_ignored(sync, named):
    ann, bob = old(), old(BOB)
    named((bob.pk, BOB), (ann.pk, ANN))

    sync("--verified", NAMED, "--batch-size", "1")

    assert proven(ann)
    assert proven(bob)
    assert len(named.batches) == 2


def test_address_marked_as_unverified_by_staff_stays_so(sync, named):
    ann = old()
    named((ann.pk, ANN))
    sync("--verified", NAMED)
    Account.objects.update(verified_email_key="")

    sync("--verified", NAMED)

    assert not proven(ann)


def test_address_verified_without_a_proof_becomes_proven(sync, named):
    ann = make_user()
    Account.objects.update(verified_email_key=F("email_key"))
    named((ann.pk, ANN))

    sync("--verified", NAMED)

    assert proven(ann)


@shares_addresses
def test_shared_address_is_assigned_to_the_one_user_who_proved_it(sync, named):
    first, second = old(ANN, username="first"), old("ANN@example.com", username="second")
    named((second.pk, ANN))

    sync("--verified", NAMED)

    assert (proven(first), proven(second)) == (False, True)
    found = lookup.find_by_email(ANN)
    assert found is not None
    assert found.user == second


@shares_addresses
@pytest.mark.parametrize("size", ["1", "500"])
def test_shared_address_that_two_users_proved_is_assigned_to_no_user(sync, named, size):
    first, second = old(ANN, username="first"), old("ANN@example.com", username="second")
    named((first.pk, ANN), (second.pk, ANN))

    sync("--verified", NAMED, "--batch-size", size)

    assert (proven(first), proven(second)) == (False, False)
    assert not Account.objects.exclude(email_key=None).exists()


@shares_addresses
def test_shared_address_that_another_user_verified_here_stays(sync, named):
    first = make_user(ANN, username="first")
    Account.objects.update(verified_email_key=F("email_key"))
    second = old("ANN@example.com", username="second")
    named((second.pk, ANN))

    sync("--verified", NAMED)

    assert not proven(second)
    assert Account.objects.get(user=first).email_key


def test_dry_run_counts_the_same_and_marks_nothing(sync, named):
    ann, bob = old(), old(BOB)
    make_user(CARL)
    named((ann.pk, ANN), (bob.pk, "second@example.com"))
    before = list(Account.objects.values())

    output = sync("--verified", NAMED, "--dry-run")

    assert "1 address would be marked as proven." in output
    assert f"2 addresses are {UNPROVEN}" in output
    assert list(Account.objects.values()) == before


def test_mark_is_recorded(sync, named, recorded):
    ann = old()
    named((ann.pk, ANN))

    sync("--verified", NAMED)

    (event,) = recorded("user.email.verified")
    assert (event.user, event.target, event.actor_type) == (None, ann, "system")
    assert event.metadata == {"reason": "import"}


def test_statements_of_a_batch_do_not_depend_on_its_size(sync, named):
    def statements(number, prefix):
        users = [old(f"{prefix}{place}@example.com") for place in range(number)]
        sync()
        named(*((user.pk, f"{prefix}{place}@example.com") for place, user in enumerate(users)))
        with CaptureQueriesContext(connection) as asked:
            sync("--verified", NAMED)
        assert all(map(proven, users))
        return len(asked)

    assert statements(2, "few") == statements(40, "many")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--verified", "tests.commands.proofs.missing"), "cannot be imported"),
        (("--verified", "nonsense"), "cannot be imported"),
        (("--verified", ".."), "cannot be imported"),
        (("--verified", "tests.commands.proofs.NOT_A_FUNCTION"), "must be a function"),
        (("--verified", "tests.commands.proofs.asynchronous"), "must be a function"),
        (("--joined-before", "2030-01-31"), "needs --verified all"),
        (("--verified", "all", "--joined-before", "soon"), "ISO 8601"),
    ],
)
def test_wrong_choice_is_refused_before_anything_is_written(sync, options, reason):
    old()

    with pytest.raises(CommandError, match=reason):
        sync(*options)

    assert Account.objects.count() == 0


@pytest.mark.parametrize("pairs", [[ANN], [(1, 2)], [1], [(1, ANN, True)], [([], ANN)]])
def test_function_that_returns_anything_else_is_refused(sync, named, pairs):
    ann = old()
    named(*pairs)

    with pytest.raises(CommandError, match="pairs of a user's primary key and an address"):
        sync("--verified", NAMED)
    assert not proven(ann)


def test_user_without_a_password_is_not_counted_as_unproven(sync):
    old(password=None)
    change(ANN, last_login=timezone.now())

    assert "unproven" not in sync()


def test_setting_that_removes_nothing_needs_no_warning(sync, configure):
    old()
    configure(CORE={"WIPE_UNPROVEN": False})

    assert "unproven" not in sync()
