"""Statements that are compiled once and run often.

Building SQL from a queryset costs several times as much as running it by primary key. These classes
cache the SQL per database alias and run it with new parameters through Django's own adapters and
converters, so UUIDs, booleans and times are correct on every database.

    by_id = Select(lambda: Session.objects.filter(pk=param("id", Session)).values_list())
    row = by_id.first(using, id=value)
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from django.db import connections, models
from django.db.models import Expression, Model, Q, QuerySet
from django.db.models.sql import UpdateQuery

from authservice.kernel import prepared, settings

# PostgreSQL's drivers adapt values of these fields, if they are of the field's Python type.
_PLAIN = {
    models.BooleanField,
    models.CharField,
    models.DateTimeField,
    models.PositiveIntegerField,
    models.PositiveSmallIntegerField,
    models.TextField,
    models.UUIDField,
}
_statements: list[_Statement] = []


class Param(Expression):
    """A placeholder for a value that is passed when the statement runs."""

    def __init__(self, name: str, field: Any) -> None:
        super().__init__(output_field=field)
        self.name = name

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        return "%s", (self,)


def param(name: str, model: type[Model], field: str = "") -> Param:
    """A placeholder of a model field's type; `field` defaults to the parameter's name."""
    return Param(name, model._meta.get_field(field or name))


class _Statement(ABC):
    """SQL and parameters per database alias; `_plan` compiles them on the first run."""

    def __init__(self) -> None:
        self._plans: dict[str, Any] = {}
        _statements.append(self)

    def _plan_for(self, using: str) -> Any:
        plan = self._plans.get(using)
        if plan is None:
            plan = self._plans[using] = self._plan(using)
        return plan

    @abstractmethod
    def _plan(self, using: str) -> Any:
        """Compile the statement for one database."""

    def forget(self) -> None:
        self._plans.clear()


class Bound(NamedTuple):
    """A statement with its values and the connection that runs it."""

    connection: Any
    sql: str
    params: list[Any]

    def run(self) -> int:
        """Run the statement; returns the number of affected rows."""
        return prepared.run(self.connection, self.sql, self.params, _rowcount)


class Select(_Statement):
    """`build` returns a `values_list` queryset with `param`s in its filters."""

    def __init__(self, build: Callable[[], QuerySet[Any, Any]]) -> None:
        super().__init__()
        self._build = build

    def first(self, using: str, **values: Any) -> tuple[Any, ...] | None:
        """The first row, or None."""
        rows = self.all(using, **values)
        return rows[0] if rows else None

    def all(self, using: str, **values: Any) -> list[tuple[Any, ...]]:
        sql, slots, converters = self._plan_for(using)
        connection = connections[using]
        rows = prepared.run(connection, sql, _filled(slots, values, connection), _fetch_all)
        return [_converted(row, converters, connection) for row in rows]

    def _plan(self, using: str) -> Any:
        compiler = self._build().query.get_compiler(using)
        sql, params = compiler.as_sql()
        expressions = [expression for expression, _, _ in compiler.select]
        converters = compiler.get_converters(expressions).items()
        slots = _slots(params, compiler.connection)
        return sql, slots, [(index, convert, of) for index, (convert, of) in converters]


class Update(_Statement):
    """`build` returns the queryset to update, `changes` the new values: plain, or with `param`s."""

    def __init__(
        self, build: Callable[[], QuerySet[Any, Any]], changes: Callable[[], dict[str, Any]]
    ) -> None:
        super().__init__()
        self._build, self._changes = build, changes

    def run(self, using: str, **values: Any) -> int:
        """Run the update; returns the number of matched rows."""
        return self.bound(using, **values).run()

    def bound(self, using: str, **values: Any) -> Bound:
        """The statement with these values, to be run later."""
        sql, slots = self._plan_for(using)
        connection = connections[using]
        return Bound(connection, sql, _filled(slots, values, connection))

    def _plan(self, using: str) -> Any:
        query: Any = self._build().query.chain(UpdateQuery)
        query.add_update_values(self._changes())
        compiler = query.get_compiler(using)
        sql, params = compiler.as_sql()
        return sql, _slots(params, compiler.connection)


class Insert(_Statement):
    """Inserts rows of a model whose primary keys are already set; sends no model signals."""

    def __init__(self, model: Callable[[], type[Model]]) -> None:
        super().__init__()
        self._model = model

    def run(self, using: str, *rows: Model) -> None:
        self.bound(using, *rows).run()

    def bound(self, using: str, *rows: Model) -> Bound:
        """The statement that inserts these rows, to be run later. They count as stored."""
        sql, placeholders, columns = self._plan_for(using)
        connection = connections[using]
        values = [
            prepare(getattr(row, name), connection) if prepare else getattr(row, name)
            for row in rows
            for name, prepare in columns
        ]
        for row in rows:
            row._state.adding, row._state.db = False, using
        return Bound(connection, sql + ", ".join([placeholders] * len(rows)), values)

    def _plan(self, using: str) -> Any:
        meta, connection = self._model()._meta, connections[using]
        fields, quote = meta.concrete_fields, connection.ops.quote_name
        names = ", ".join(quote(str(field.column)) for field in fields)
        placeholders = ", ".join(["%s"] * len(fields))
        # Names come from our own models and are quoted; every value is a parameter.
        sql = f"INSERT INTO {quote(meta.db_table)} ({names}) VALUES "  # noqa: S608
        columns = [(field.attname, _preparation(field, connection)) for field in fields]
        return sql, f"({placeholders})", columns


def run_together(*statements: Bound) -> None:
    """Run statements that write different tables, in this order; the last one is an INSERT.

    PostgreSQL runs them as one statement with CTEs, which saves round trips. None of them sees what
    the others write.
    """
    *before, last = statements
    connection = last.connection
    if connection.vendor != "postgresql" or any(b.connection is not connection for b in before):
        for statement in statements:
            statement.run()
        return
    if before:
        # PostgreSQL runs data-modifying CTEs that the main statement does not read after it, from
        # the last to the first. Reversing them takes the row locks in the order of `before`; an
        # INSERT locks the rows that it references at the end of the whole statement. Example:
        #   WITH change0 AS (UPDATE accounts …), change1 AS (UPDATE users …) INSERT INTO sessions …
        # locks the row of users before that of accounts.
        backwards = list(reversed(before))
        parts = ", ".join(f"change{n} AS ({bound.sql})" for n, bound in enumerate(backwards))
        params = [value for bound in backwards for value in bound.params]
        last = Bound(connection, f"WITH {parts} {last.sql}", params + last.params)
    last.run()


def _preparation(field: Any, connection: Any) -> Callable[[Any, Any], Any] | None:
    """Django's preparation of a field's values for the driver; None if the driver needs none.

    It calls several methods for each value, which were a tenth of the calls of a login.
    """
    plain = connection.vendor == "postgresql" and type(field) in _PLAIN
    return None if plain else field.get_db_prep_save


def _rowcount(cursor: Any) -> int:
    return int(cursor.rowcount)


def _fetch_all(cursor: Any) -> list[Any]:
    return list(cursor.fetchall())


class _Slot(NamedTuple):
    """A placeholder. Its value is passed by name when the statement runs; without a name it is
    `constant`."""

    name: str
    prepare: Callable[[Any, Any], Any] | None
    constant: Any


def _slots(params: Any, connection: Any) -> list[_Slot]:
    return [
        _Slot(p.name, _preparation(p.output_field, connection), None)
        if isinstance(p, Param)
        else _Slot("", None, p)
        for p in params
    ]


def _filled(slots: list[_Slot], values: dict[str, Any], connection: Any) -> list[Any]:
    given = ((values[name] if name else constant, prepare) for name, prepare, constant in slots)
    return [prepare(value, connection) if prepare else value for value, prepare in given]


def _converted(row: Any, converters: Any, connection: Any) -> tuple[Any, ...]:
    values = list(row)
    for index, functions, expression in converters:
        for convert in functions:
            values[index] = convert(values[index], expression, connection)
    return tuple(values)


@contextmanager
def planned_for_values(using: str) -> Iterator[None]:
    """Within this context, PostgreSQL plans each statement for its actual values.

    psycopg prepares a statement that runs often, and PostgreSQL then switches to a generic plan,
    which assumes that all values are equally common. That is right for a lookup by key. A list
    that is filtered by a rare value can then scan the whole table for seconds, because the generic
    plan expects many matching rows.
    """
    connection = connections[using]
    connection.ensure_connection()
    threshold = getattr(connection.connection, "prepare_threshold", None)
    if threshold is None:
        yield
        return
    connection.connection.prepare_threshold = None
    try:
        yield
    finally:
        connection.connection.prepare_threshold = threshold


@settings.on_host_change
def _forget() -> None:
    for statement in _statements:
        statement.forget()


def containing(text: str, *columns: str, using: str) -> Q:
    """The condition that one of the columns contains the text; `using` is the database alias."""
    if connections[using].vendor == "sqlite":
        # Its LIKE ignores case for ASCII only; `iregex` runs in Python.
        return _any_of(columns, "iregex", re.escape(text))
    return _any_of(columns, "icontains", text)


def _any_of(columns: tuple[str, ...], lookup: str, wanted: str) -> Q:
    return Q(*((f"{column}__{lookup}", wanted) for column in columns), _connector=Q.OR)
