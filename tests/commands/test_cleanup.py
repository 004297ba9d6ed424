"""The cleanup deletes expired rows, and only those."""

import uuid
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from authservice.core import cleanup
from authservice.core.credentials import attempt_counter
from authservice.core.credentials.attempt_counter import PASSWORD as BUDGET
from authservice.core.credentials.attempt_counter import Budget
from authservice.core.models import Account, OneTimeToken, Session
from authservice.kernel import errors
from tests.support.deadlocks import one_deadlock
from tests.support.people import make_user

pytestmark = pytest.mark.django_db

KEPT = timedelta(days=30)
DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)


def one_time_token(**moments):
    now = timezone.now()
    fields = {"expires_at": now + DAY, "digest": uuid.uuid4().hex}
    fields.update({name: now - ago for name, ago in moments.items()})
    return OneTimeToken.objects.create(purpose="verify-email", **fields)


def old(**moments):
    """Move timestamps of all sessions into the past."""
    Session.objects.update(**{name: timezone.now() - ago for name, ago in moments.items()})


def test_cleanup_deletes_one_time_token_a_day_after_it_expired(run):
    one_time_token(expires_at=DAY + SECOND)

    assert "one-time tokens: 1 deleted" in run("authservice_cleanup")
    assert not OneTimeToken.objects.exists()


def test_cleanup_deletes_one_time_token_a_day_after_it_was_used(run):
    one_time_token(spent_at=DAY + SECOND)

    assert "one-time tokens: 1 deleted" in run("authservice_cleanup")


@pytest.mark.parametrize("moments", [{}, {"expires_at": DAY / 2}, {"spent_at": DAY / 2}])
def test_cleanup_keeps_valid_and_recently_ended_one_time_tokens(run, moments):
    one_time_token(**moments)

    assert "one-time tokens: 0 deleted" in run("authservice_cleanup")


@pytest.mark.parametrize("moment", ["ended_at", "idle_expires_at", "expires_at"])
def test_cleanup_deletes_session_thirty_days_after_it_ended(api, run, moment):
    api.sign_up()
    old(**{moment: KEPT + SECOND})

    assert "sessions: 1 deleted" in run("authservice_cleanup")


@pytest.mark.parametrize("moment", ["ended_at", "idle_expires_at", "expires_at"])
def test_cleanup_keeps_ended_session_for_thirty_days(api, run, moment):
    api.sign_up()
    old(**{moment: KEPT - DAY})

    assert "sessions: 0 deleted" in run("authservice_cleanup")


def test_cleanup_keeps_active_session_with_zero_days(api, run):
    tokens = api.sign_up()
    old(created_at=2 * KEPT, last_used_at=2 * KEPT)

    run("authservice_cleanup", "--keep-days", "0")

    assert api.post("refresh", refresh_token=tokens["refresh_token"]).status == 200


def test_cleanup_keep_days_can_be_set(api, run):
    api.sign_up()
    old(ended_at=timedelta(days=8))

    assert "sessions: 1 deleted" in run("authservice_cleanup", "--keep-days", "7")


def lock_out(key):
    for _ in range(BUDGET.limit):
        attempt_counter.consume(key, BUDGET)


def is_locked_out(key):
    return not attempt_counter.try_consume(key, BUDGET)


def test_cleanup_keeps_attempt_counter_within_its_window(run):
    lock_out("ann")

    assert "attempt counters: 0 deleted" in run("authservice_cleanup")
    assert is_locked_out("ann")


def test_cleanup_keeps_strikes_of_attempt_counter_until_forgiven(run, clock):
    lock_out("ann")
    clock.forward(hours=23)

    run("authservice_cleanup")

    # After one exhausted window there is a single attempt, then the lockout applies again.
    attempt_counter.consume("ann", BUDGET)
    with pytest.raises(errors.TooManyAttempts):
        attempt_counter.consume("ann", BUDGET)


def test_cleanup_deletes_forgiven_attempt_counter(run, clock):
    lock_out("ann")
    clock.forward(days=1, minutes=16)

    assert "attempt counters: 1 deleted" in run("authservice_cleanup")


def test_budget_remembered_longer_than_its_counter_is_kept_is_refused():
    with pytest.raises(ValueError, match="FORGIVEN_AFTER"):
        Budget(limit=1, window=DAY, longest=DAY, forgiven_after=DAY + SECOND)


def test_cleanup_dry_run_counts_rows_and_deletes_none(api, run):
    api.sign_up()
    old(ended_at=2 * KEPT)
    one_time_token(expires_at=2 * DAY)

    output = run("authservice_cleanup", "--dry-run")

    assert "one-time tokens: 1 would be deleted" in output
    assert "sessions: 1 would be deleted" in output
    assert (OneTimeToken.objects.count(), Session.objects.count()) == (1, 1)


def test_second_cleanup_finds_nothing(run):
    one_time_token(expires_at=2 * DAY)
    run("authservice_cleanup")

    output = run("authservice_cleanup").splitlines()
    assert [line.partition(":")[0] for line in output[-7:]] == [
        "one-time tokens",
        "reserved addresses",
        "password checks",
        "unseen passwords",
        "sessions",
        "attempt counters",
        "lost messages",
    ]
    assert {line.partition(": ")[2] for line in output} == {"0 deleted"}


def test_cleanup_former_command_name_is_an_alias(run):
    one_time_token(expires_at=2 * DAY)

    assert "one-time tokens: 1 would be deleted" in run("authservice_sweep", "--dry-run")
    assert "one-time tokens: 1 deleted" in run("authservice_sweep", "--batch-size", "1")


def test_cleanup_keeps_users(run):
    make_user()
    run("authservice_cleanup", "--keep-days", "0")

    assert Account.objects.count() == 1


@pytest.mark.parametrize(
    "wrong", [["--batch-size", "0"], ["--keep-days", "-1"], ["--keep-days", "36501"]]
)
def test_cleanup_refuses_invalid_numbers(wrong):
    with pytest.raises(CommandError):
        call_command("authservice_cleanup", *wrong)


@pytest.fixture
def ten_thousand():
    now = timezone.now()
    expired = [now - 2 * DAY, now + DAY]
    OneTimeToken.objects.bulk_create(
        [
            OneTimeToken(purpose="verify-email", digest=f"{n:064x}", expires_at=expired[n % 2])
            for n in range(10_000)
        ],
        batch_size=1000,
    )


def test_cleanup_of_large_table_costs_few_statements_per_batch(run, ten_thousand):
    batches = 5_000 // 1000

    with CaptureQueriesContext(
        connection,
    ) as asked:
        output = run("authservice_cleanup", "--batch-size", "1000")

    # Read, begin, lock, delete, commit; and a last read of each table that finds no more rows.
    assert len(asked) <= 5 * batches + len(output.splitlines())
    assert OneTimeToken.objects.count() == 5_000


def test_cleanup_with_small_batches_deletes_all_rows(run):
    for _ in range(7):
        one_time_token(expires_at=2 * DAY)

    assert "one-time tokens: 7 deleted" in run("authservice_cleanup", "--batch-size", "3")


def test_cleanup_keeps_row_that_is_no_longer_expired_when_locked(run):
    kept, gone = one_time_token(expires_at=2 * DAY), one_time_token(expires_at=2 * DAY)
    [rows] = [
        expired.rows
        for expired in cleanup.expired_rows(sessions_kept=KEPT)
        if expired.name == "one-time tokens"
    ]
    found = [kept.pk, gone.pk]
    OneTimeToken.objects.filter(pk=kept.pk).update(expires_at=timezone.now())

    assert cleanup.delete(rows, found) == 1
    assert OneTimeToken.objects.get() == kept


@pytest.mark.django_db(transaction=True)
def test_batch_aborted_by_a_deadlock_is_repeated(run):
    one_time_token(expires_at=2 * DAY)

    with one_deadlock("DELETE") as aborted:
        output = run("authservice_cleanup")

    assert len(aborted) == 1
    assert "one-time tokens: 1 deleted" in output
    assert not OneTimeToken.objects.exists()
