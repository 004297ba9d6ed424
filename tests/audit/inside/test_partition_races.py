"""The audit table is partitioned while others use it: users, and other runs of the command."""

from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from threading import Event as Flag
from threading import Thread

import pytest
from django.core.management import CommandError
from django.db import connections, transaction

from authservice.audit import partitions
from authservice.audit.models import Entry
from tests.audit.months import TABLE, command, make_plain, names, only_on_postgresql, rows_in
from tests.audit.stored import store, store_all, unsaved
from tests.audit.world import metadata
from tests.races.crowd import Crowd, asked_rounds
from tests.support.client import PASSWORD, Api

pytestmark = [pytest.mark.usefixtures("plain_table"), only_on_postgresql]

ROUNDS = asked_rounds(5)
RUNS = 3


@pytest.fixture
def crowd():
    gathered = Crowd(RUNS)
    yield gathered
    gathered.close()


@contextmanager
def in_another_thread(lock):
    """Another transaction holds that lock."""
    locked, finished = Flag(), Flag()

    def hold():
        with lock():
            locked.set()
            finished.wait(20)
        connections.close_all()

    holder = Thread(target=hold)
    holder.start()
    try:
        assert locked.wait(10)
        yield
    finally:
        finished.set()
        holder.join()


@contextmanager
def locked_entries():
    with transaction.atomic():
        list(Entry.objects.select_for_update())
        yield


@pytest.mark.parametrize("lock", [locked_entries, partitions.briefly])
def test_command_waits_at_most_two_seconds_for_a_lock(lock):
    store("auth.logout")

    with (
        in_another_thread(lock),
        pytest.raises(CommandError, match="lock timeout.*run the command again"),
    ):
        command()

    assert not partitions.is_partitioned()
    command()
    assert partitions.is_partitioned()


def all_run(crowd, text):
    """The lines with this text that concurrent runs print, sorted."""
    printed = crowd.race([command] * RUNS)
    return sorted(line for lines in printed for line in lines if text in line)


def test_concurrent_first_runs_partition_the_table_once(crowd):
    for _ in ROUNDS:
        store_all([unsaved("auth.logout") for _ in range(50)])

        assert len(all_run(crowd, "Partitioned.")) == 1

        first = partitions._partitions()[0]
        assert rows_in(first.name) == 50
        make_plain()


def test_concurrent_runs_create_each_month_once(crowd):
    for _ in ROUNDS:
        partitions.convert()

        created = all_run(crowd, "Created")

        assert created == [f"Created {TABLE}{name}." for name in names()[1:]]
        make_plain()


def test_concurrent_runs_drop_and_record_expired_entries_once(crowd, time_machine):
    now = datetime.now(UTC)
    for _ in ROUNDS:
        time_machine.move_to(now - timedelta(days=200))
        store_all([unsaved("auth.logout") for _ in range(50)])
        kept = store("security.session.revoked")
        command()
        time_machine.move_to(now)
        partitions.extend(3)
        first = partitions._partitions()[0]

        assert all_run(crowd, first.name) == [f"{first.name}: 50 entries dropped."]

        [run] = Entry.objects.filter(action="admin.audit.cleaned")
        assert metadata(run)["deleted"] == 50
        assert rows_in(first.name) == 1
        assert Entry.objects.get(pk=kept.pk) == kept
        make_plain()


def test_users_log_in_while_the_table_becomes_partitioned():
    Api().sign_up("ann@example.com")
    statuses, done = [], Flag()

    def log_in():
        api = Api(raising=False)
        while not done.is_set():
            statuses.append(api.post("login", email="ann@example.com", password=PASSWORD).status)
        connections.close_all()

    users = [Thread(target=log_in) for _ in range(4)]
    for user in users:
        user.start()
    try:
        command()
    finally:
        done.set()
        for user in users:
            user.join()
    assert set(statuses) == {200}
    assert Entry.objects.filter(action="auth.login.success").count() == len(statuses)
