"""On PostgreSQL the audit table can be kept in one partition for each month."""

from datetime import UTC, datetime, timedelta
from io import StringIO
from threading import Event as Flag
from threading import Thread

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, connections, transaction

from authservice.audit import partitions
from authservice.audit.models import Entry
from authservice.audit.partitions import Partition
from authservice.audit.retention import clean
from tests.audit.stored import store, store_all, unsaved
from tests.audit.world import metadata
from tests.support.client import PASSWORD, Api

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="only PostgreSQL has partitions"),
]

NOW = datetime.now(UTC)
TABLE = Entry._meta.db_table


@pytest.fixture(autouse=True)
def _plain_table():
    """Afterwards the table is as migrations made it."""
    yield
    if partitions.is_partitioned():
        with connection.schema_editor() as editor:
            editor.execute(f"DROP TABLE {TABLE} CASCADE")
            editor.create_model(Entry)


def command(**options):
    out = StringIO()
    call_command("authservice_audit_partitions", stdout=out, **options)
    return out.getvalue().splitlines()


def read(sql, *values):
    with connection.cursor() as cursor:
        cursor.execute(sql, values or None)
        return cursor.fetchall()


def names():
    return [one.name.removeprefix(TABLE) for one in partitions._partitions()]


def rows_in(name):
    [[number]] = read(f"SELECT count(*) FROM {name}")
    return number


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


def test_key_and_indexes_have_the_names_of_the_model():
    before = set(read("SELECT indexname FROM pg_indexes WHERE tablename = %s", TABLE))

    command()

    assert set(read("SELECT indexname FROM pg_indexes WHERE tablename = %s", TABLE)) == before
    for one in partitions._partitions():
        assert len(read("SELECT 1 FROM pg_indexes WHERE tablename = %s", one.name)) == len(before)


def test_no_row_is_copied():
    store("auth.logout")
    [[file]] = read("SELECT pg_relation_filenode(%s)", TABLE)

    command()

    [[kept]] = read("SELECT pg_relation_filenode(%s)", partitions._partitions()[0].name)
    assert kept == file


def test_rights_of_other_roles_are_kept():
    with transaction.atomic():
        connection.cursor().execute("DROP ROLE IF EXISTS authservice_test_reader")
        connection.cursor().execute("CREATE ROLE authservice_test_reader")
        connection.cursor().execute(f"GRANT SELECT, INSERT ON {TABLE} TO authservice_test_reader")
    try:
        command()
        held = read(
            "SELECT privilege_type FROM information_schema.role_table_grants"
            " WHERE table_name = %s AND grantee = 'authservice_test_reader'",
            TABLE,
        )
    finally:
        connection.cursor().execute("DROP OWNED BY authservice_test_reader")
        connection.cursor().execute("DROP ROLE authservice_test_reader")
    assert set(held) == {("SELECT",), ("INSERT",)}


def test_table_with_a_trigger_is_refused():
    connection.cursor().execute(
        f"CREATE TRIGGER guard BEFORE UPDATE ON {TABLE}"
        " FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()"
    )
    try:
        with pytest.raises(CommandError, match="has triggers or row security"):
            command()
    finally:
        connection.cursor().execute(f"DROP TRIGGER guard ON {TABLE}")
    assert not partitions.is_partitioned()


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


def test_command_waits_at_most_two_seconds_for_a_lock():
    store("auth.logout")
    locked, finished = Flag(), Flag()

    def hold():
        with transaction.atomic():
            list(Entry.objects.select_for_update())
            locked.set()
            finished.wait(20)
        connections.close_all()

    holder = Thread(target=hold)
    holder.start()
    try:
        assert locked.wait(10)
        with pytest.raises(CommandError, match="lock timeout.*run the command again"):
            command()
    finally:
        finished.set()
        holder.join()
    assert not partitions.is_partitioned()
    command()
    assert partitions.is_partitioned()


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
