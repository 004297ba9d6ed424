"""A user whose account the database refuses is named, and all others are synchronised."""

import pytest
from django.core.management.base import CommandError
from django.db import IntegrityError, OperationalError, connection

from authservice.core.models import Account
from tests.commands import proofs
from tests.commands.proofs import ANN, BOB, CARL, old, proven
from tests.support import triggers

pytestmark = pytest.mark.django_db
_triggers = triggers.of(Account)


@pytest.fixture
def people():
    return [old(email, username=email[:4]) for email in (ANN, BOB, CARL)]


@pytest.mark.parametrize("size", ["1", "1000"])
def test_account_that_the_database_refuses_is_named_and_others_are_created(run, people, size):
    _, bob, _ = people
    triggers.refuse(Account, user_id=bob.pk)

    for _ in range(2):  # a second run does the same
        with pytest.raises(CommandError, match=f"refuses the accounts of users {bob.pk}\\."):
            run("authservice_sync_accounts", "--batch-size", size)
        stored = set(Account.objects.values_list("user", flat=True))
        assert stored == {user.pk for user in people if user != bob}


def test_update_that_the_database_refuses_is_named(run, people):
    run("authservice_sync_accounts")
    _, bob, carl = people
    triggers.refuse(Account, user_id=bob.pk)
    for user in (bob, carl):
        type(user).objects.filter(pk=user.pk).update(email=f"new-{user.email}")

    with pytest.raises(CommandError, match=f"users {bob.pk}\\."):
        run("authservice_sync_accounts")

    assert Account.objects.get(user=carl).email == f"new-{CARL}"


@pytest.mark.django_db(transaction=True)
def test_account_that_is_refused_before_a_deadlock_is_counted_once(run, people, caplog):
    """PostgreSQL names the values of the refused row, which the log must not contain."""
    aborted = []

    def answer(execute, sql, params, many, context):
        if sql.startswith("INSERT") and BOB in str(params):
            raise IntegrityError(f"Failing row contains ({BOB}).")
        if sql.startswith("INSERT") and CARL in str(params) and not aborted:
            aborted.append(sql)
            raise OperationalError(1213, "Deadlock found when trying to get lock")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(answer), pytest.raises(CommandError) as refused:
        run("authservice_sync_accounts")

    _, bob, _ = people
    assert aborted
    assert str(refused.value).count(str(bob.pk)) == 1
    assert f"the account of user {bob.pk}: IntegrityError" in caplog.text
    assert BOB not in caplog.text
    assert Account.objects.count() == 2


@pytest.mark.parametrize("chosen", ["all", "tests.commands.proofs.named"])
def test_proof_that_the_database_refuses_is_named(run, people, monkeypatch, chosen):
    run("authservice_sync_accounts")
    _, bob, _ = people
    monkeypatch.setattr(proofs, "answer", lambda users: [(user.pk, user.email) for user in users])
    triggers.refuse(Account, user_id=bob.pk)
    options = ("--joined-before", "2999-01-01") if chosen == "all" else ()

    with pytest.raises(CommandError, match=f"users {bob.pk}\\."):
        run("authservice_sync_accounts", "--verified", chosen, *options)

    assert [proven(user) for user in people] == [True, False, True]
