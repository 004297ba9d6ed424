"""The plain audit table becomes a partitioned one on PostgreSQL, which keeps what it had."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import CommandError
from django.db import connection, transaction

from authservice.audit import partitions
from tests.audit.months import TABLE, command, execute, index_names, only_on_postgresql, read
from tests.audit.stored import store

pytestmark = [pytest.mark.usefixtures("plain_table"), only_on_postgresql]


@pytest.fixture
def _no_other_objects(plain_table):
    """Afterwards those are gone that are not dropped with the table."""
    yield
    execute("DROP PUBLICATION IF EXISTS feed")
    execute("DROP TABLE IF EXISTS note")


def test_key_and_indexes_have_the_names_of_the_model():
    before = index_names(TABLE)

    command()

    assert index_names(TABLE) == before
    for one in partitions._partitions():
        assert len(index_names(one.name)) == len(before)


# The second one is as long as a name may be.
@pytest.mark.parametrize("name", ["Own details", "details_" + "x" * 55])
def test_own_index_stays_on_the_first_partition(name):
    execute(f'CREATE INDEX "{name}" ON {TABLE} (details)')

    command()

    assert name not in index_names(TABLE)
    assert name in index_names(partitions._partitions()[0].name)


def test_primary_key_with_capitals_keeps_its_name():
    execute(f'ALTER TABLE {TABLE} RENAME CONSTRAINT {TABLE}_pkey TO "Key of entries"')

    command()

    assert "Key of entries" in index_names(TABLE)


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


_TRIGGER = f"""CREATE TRIGGER guard BEFORE UPDATE ON {TABLE}
FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()"""
_VIEW = f"CREATE VIEW report AS SELECT id FROM {TABLE}"
_REFUSED = {
    _TRIGGER: "trigger guard",
    f"CREATE RULE silent AS ON DELETE TO {TABLE} DO INSTEAD NOTHING": f"rule silent of {TABLE}",
    f"ALTER TABLE {TABLE} ENABLE ROW LEVEL SECURITY": "row security",
    _VIEW: "view report",
    f"CREATE MATERIALIZED VIEW report AS SELECT count(*) FROM {TABLE}": "view report",
    f"CREATE TABLE note (entry uuid CONSTRAINT of_entry REFERENCES {TABLE})": (
        "foreign key of_entry of note"
    ),
    f"CREATE PUBLICATION feed FOR TABLE {TABLE}": "publication feed",
    "CREATE PUBLICATION feed FOR ALL TABLES": "publication feed",
}


@pytest.mark.usefixtures("_no_other_objects")
@pytest.mark.parametrize(("create", "name"), _REFUSED.items())
def test_table_with_dependent_object_is_refused_by_name(create, name):
    execute(create)

    with pytest.raises(CommandError, match=f"dependent objects: {name}\\. .*drop them first"):
        command()

    assert not partitions.is_partitioned()


def test_refusal_names_all_dependent_objects():
    execute(_VIEW)
    execute("CREATE VIEW second AS SELECT * FROM report")
    execute(_TRIGGER)

    with pytest.raises(CommandError, match=r"objects: trigger guard, view report\."):
        command()


@pytest.mark.parametrize("days", [0, 60])
def test_run_continues_after_an_aborted_one(monkeypatch, time_machine, days):
    now = datetime.now(UTC)
    time_machine.move_to(now - timedelta(days=days))
    with monkeypatch.context() as patch:
        patch.setattr(partitions, "_swap", interrupt)
        with pytest.raises(KeyboardInterrupt):
            command()
    time_machine.move_to(now)

    command()

    checks = "SELECT conname FROM pg_constraint WHERE conrelid = %s::regclass AND contype = 'c'"
    assert read(checks, partitions._partitions()[0].name) == []


def interrupt(former):
    raise KeyboardInterrupt
