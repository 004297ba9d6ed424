"""Triggers of the database that refuse rows, as projects have them for rules of their own.

A module of tests names the models: `_triggers = triggers.of(User)`. MariaDB commits the transaction
of a test if a trigger is created in it, so there the triggers exist while the module runs, and
refuse the rows that a table of theirs names.
"""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection

# The errors by which triggers refuse, by vendor; the first one is the usual one. What they report:
# a SQLSTATE, a number of an error, and the way in which SQLite ends the statement.
ERRORS = {
    "postgresql": ("P0001", "U0001", "45000", "PT409", "42501", "55000", "0A000", "P0002"),
    "mysql": ("1644", "20000", "30001", "65534"),
    "sqlite": ("ABORT", "FAIL"),
}
# The errors that ask for a retry.
TEMPORARY = {
    "postgresql": ("40P01", "40001", "55P03", "57014", "53300", "08006"),
    "mysql": ("1205", "1213", "1969"),
    "sqlite": (),
}
_RULES = "rules_of_triggers"
has_deferred = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="no trigger of this database is deferred"
)
_FUNCTION = """
CREATE OR REPLACE FUNCTION pg_temp.refuse() RETURNS trigger LANGUAGE plpgsql
AS $$ BEGIN RAISE EXCEPTION 'refused by a rule' USING ERRCODE = '{error}'; END $$
"""
_SIGNAL = """
CREATE TRIGGER {name} BEFORE {event} ON {table} FOR EACH ROW
BEGIN
    DECLARE number INT;
    SELECT MAX(error) INTO number FROM {rules}
    WHERE of_table = '{of_table}' AND ({condition});
    IF number IS NOT NULL THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused by a rule', MYSQL_ERRNO = number;
    END IF;
END
"""


def errors() -> tuple[str, ...]:
    return ERRORS[connection.vendor]


def temporary_errors() -> tuple[str, ...]:
    return TEMPORARY[connection.vendor]


def of(*models: Any) -> Any:
    """An autouse fixture of a module whose tests call `refuse` with one of these models."""

    @pytest.fixture(scope="module", autouse=True)
    def _triggers(django_db_setup, django_db_blocker):
        if connection.vendor != "mysql":
            yield
            return
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            cursor.execute(f"CREATE TABLE {_RULES} (of_table TEXT, user_id BIGINT, error INT)")
            names = [name for model in models for name in _create(cursor, model)]
        yield
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            for name in names:
                cursor.execute(f"DROP TRIGGER {name}")
            cursor.execute(f"DROP TABLE {_RULES}")

    return _triggers


def _create(cursor: Any, model: Any) -> list[str]:
    """Create the triggers of MariaDB; returns their names."""
    table, names = model._meta.db_table, []
    has_user = any(field.column == "user_id" for field in model._meta.concrete_fields)
    condition = "user_id IS NULL OR user_id = NEW.user_id" if has_user else "user_id IS NULL"
    for event in ("INSERT", "UPDATE"):
        name = f"refuse_{event}_{table}"
        options = {"name": name, "event": event, "table": table, "of_table": table}
        cursor.execute(_SIGNAL.format(rules=_RULES, condition=condition, **options))
        names.append(name)
    return names


def refuse(model: Any, *, user_id: int | None = None, error: str = "") -> None:
    """Refuse to insert or update the rows of the model's table, or those of one user, until the
    transaction of the test is rolled back or `accept` is called. `error` is one of `errors()`."""
    table, error = model._meta.db_table, error or errors()[0]
    condition = "1 = 1" if user_id is None else f"NEW.user_id = {int(user_id)}"
    with connection.cursor() as cursor:
        if connection.vendor == "mysql":
            rule = (table, user_id, int(error))
            cursor.execute(f"INSERT INTO {_RULES} VALUES (%s, %s, %s)", rule)
        elif connection.vendor == "postgresql":
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute(_FUNCTION.format(error=error))
            cursor.execute(
                f"CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON {table} FOR EACH ROW"
                f" WHEN ({condition}) EXECUTE FUNCTION pg_temp.refuse()"
            )
        else:
            for event in ("INSERT", "UPDATE"):
                cursor.execute(
                    f"CREATE TRIGGER refuse_{event} BEFORE {event} ON {table} WHEN {condition}"
                    f" BEGIN SELECT RAISE({error}, 'refused by a rule'); END"
                )


def refuse_at_commit(model: Any) -> None:
    """Refuse the rows of the model's table at the end of the transaction, until `accept`."""
    with connection.cursor() as cursor:
        cursor.execute(_FUNCTION.format(error=errors()[0]))
        cursor.execute(
            f"CREATE CONSTRAINT TRIGGER refuse AFTER INSERT OR UPDATE ON {model._meta.db_table}"
            " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pg_temp.refuse()"
        )


def accept(model: Any) -> None:
    """Accept the rows again, in a test that commits."""
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "mysql":
            cursor.execute(f"DELETE FROM {_RULES} WHERE of_table = %s", [table])
        elif connection.vendor == "postgresql":
            cursor.execute(f"DROP TRIGGER IF EXISTS refuse ON {table}")
        else:
            for event in ("INSERT", "UPDATE"):
                cursor.execute(f"DROP TRIGGER IF EXISTS refuse_{event}")
