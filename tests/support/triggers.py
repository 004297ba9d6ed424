"""Triggers of the database that refuse rows, as projects have them for rules of their own.

MariaDB commits the transaction of a test when a trigger is created, so there the database refuses
nothing by one in these tests.
"""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection

needs_triggers = pytest.mark.skipif(
    connection.vendor == "mysql", reason="creating a trigger commits the transaction of the test"
)
_FUNCTION = """
CREATE OR REPLACE FUNCTION pg_temp.refuse() RETURNS trigger LANGUAGE plpgsql
AS $$ BEGIN RAISE EXCEPTION 'refused by a rule'; END $$
"""


def refuse(model: Any, column: str = "", value: Any = None) -> None:
    """Refuse to insert or update the rows of the model's table with this value, or all rows, until
    the transaction of the test is rolled back."""
    quote, table = connection.ops.quote_name, connection.ops.quote_name(model._meta.db_table)
    condition = f"NEW.{quote(column)} = {int(value)}" if column else "1 = 1"
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute(_FUNCTION)
            cursor.execute(
                f"CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON {table} FOR EACH ROW"
                f" WHEN ({condition}) EXECUTE FUNCTION pg_temp.refuse()"
            )
            return
        for event in ("INSERT", "UPDATE"):
            cursor.execute(
                f"CREATE TRIGGER refuse_{event} BEFORE {event} ON {table} WHEN {condition}"
                " BEGIN SELECT RAISE(ABORT, 'refused by a rule'); END"
            )
