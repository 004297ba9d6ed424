"""On PostgreSQL the audit table can be kept in one partition for each month."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import CommandError

from authservice.audit import partitions
from authservice.audit.models import Entry
from authservice.audit.partitions import Partition
from authservice.audit.retention import clean
from tests.audit.months import TABLE, command, names, only_on_postgresql, rows_in
from tests.audit.stored import store, store_all, unsaved
from tests.audit.world import metadata
from tests.support.client import PASSWORD, Api

pytestmark = [pytest.mark.usefixtures("plain_table"), only_on_postgresql]

NOW = datetime.now(UTC)


def test_entries_stay_and_new_ones_are_written():
    old = [store("auth.logout", at=NOW - timedelta(days=days)) for days in range(5)]

    said = command(months=2)

    assert said[0] == f"Partitioned. Earlier entries are in {partitions._partitions()[0].name}."
    assert [entry.pk for entry in Entry.objects.order_by("-pk")] == [entry.pk for entry in old]
    Api().sign_up("ann@example.com")
    assert Api().post("login", email="ann@example.com", password=PASSWORD).status == 200
    assert Entry.objects.filter(action="auth.login.success").count() == 1


def test_second_run_changes_nothing():
    command()

    assert command() == ["Nothing to do."]


@pytest.mark.parametrize("months", [0, -1, 121])
def test_number_of_months_is_limited(months):
    with pytest.raises(CommandError, match="--months must be from 1 to 120"):
        command(months=months)


def test_entry_beyond_the_last_month_moves_to_its_own_later():
    command(months=1)
    last = partitions._partitions()[-1]
    late = store("auth.logout", at=last.end + timedelta(days=3))
    assert rows_in(f"{TABLE}_rest") == 1

    command(months=4)

    assert rows_in(f"{TABLE}_rest") == 0
    assert rows_in(Partition.month(last.end).name) == 1
    assert Entry.objects.get(pk=late.pk).action == "auth.logout"


def test_month_is_dropped_once_no_entry_is_kept(time_machine):
    store_all([unsaved("auth.logout") for _ in range(7)])
    command(months=1)
    first = partitions._partitions()[0].name

    time_machine.move_to(NOW + timedelta(days=200))
    said = command(months=1)

    assert f"{first}: 7 entries dropped." in said
    [run] = Entry.objects.filter(action="admin.audit.cleaned")
    assert metadata(run)["deleted"] == 7
    assert first.removeprefix(TABLE) not in names()
    assert command(months=1) == ["Nothing to do."]


def test_month_shrinks_to_the_entries_to_keep(time_machine):
    store_all([unsaved("auth.logout") for _ in range(7)])
    kept = [store("security.session.revoked"), store("admin.user.updated")]
    command(months=1)
    first = partitions._partitions()[0].name

    time_machine.move_to(NOW + timedelta(days=200))
    said = command(months=1)

    assert f"{first}: 7 entries dropped." in said
    assert rows_in(first) == 2
    assert set(Entry.objects.filter(pk__in=[entry.pk for entry in kept])) == set(kept)
    [run] = Entry.objects.filter(action="admin.audit.cleaned")
    assert metadata(run)["deleted"] == 7
    assert command(months=1) == ["Nothing to do."]

    # A year later the next kind of entry has expired, and the months in between had none.
    time_machine.move_to(NOW + timedelta(days=500))
    assert f"{first}: 1 entry dropped." in command(months=1)
    assert rows_in(first) == 1


def test_month_waits_until_all_entries_of_an_action_have_expired(time_machine):
    end = Partition.month(NOW + timedelta(days=7)).end
    store_all([unsaved("auth.logout", at=moment) for moment in (end - timedelta(days=80), NOW)])
    command(months=1)
    first = partitions._partitions()[0]
    assert first.end == end

    time_machine.move_to(end + timedelta(days=20))
    assert not [line for line in command(months=1) if first.name in line]
    assert rows_in(first.name) == 2

    assert clean() == 1
    assert rows_in(first.name) == 1


def test_month_of_entries_within_their_retention_stays(time_machine):
    store("auth.logout")
    command(months=1)

    time_machine.move_to(NOW + timedelta(days=80))
    command(months=1)

    assert Entry.objects.filter(action="auth.logout").count() == 1
