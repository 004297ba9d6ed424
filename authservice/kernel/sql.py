"""Statements compiled once and run often.

Building SQL from a queryset costs several times what running it by primary key does. These keep the
SQL per database alias and run it with new parameters through Django's own adapters and converters,
so UUIDs, booleans and times come out right on every database.

    by_id = Select(lambda: Session.objects.filter(pk=param("id", Session)).values_list())
    row = by_id.first(using, id=value)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from django.db import connections
from django.db.models import Expression, Model, QuerySet
from django.db.models.sql import UpdateQuery

from authservice.kernel import settings

_statements: list[_Statement] = []


class Param(Expression):
    """A placeholder for a value that is only known when the statement runs."""

    def __init__(self, name: str, field: Any) -> None:
        super().__init__(output_field=field)
        self.name = name

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        return "%s", (self,)


def param(name: str, model: type[Model], field: str = "") -> Param:
    """A value of the model's field; the field is called like the parameter unless named."""
    return Param(name, model._meta.get_field(field or name))


class _Statement(ABC):
    """SQL and parameters per alias; `_plan` compiles them at the first run."""

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
        """Compiled for one database."""

    def forget(self) -> None:
        self._plans.clear()


class Bound(NamedTuple):
    """A statement with its values, and the connection that runs it."""

    connection: Any
    sql: str
    params: list[Any]

    def run(self) -> int:
        """How many rows it touched."""
        with self.connection.cursor() as cursor:
            cursor.execute(self.sql, self.params)
            return int(cursor.rowcount)


class Select(_Statement):
    """`build` makes a `values_list` queryset with `param`s in its filters."""

    def __init__(self, build: Callable[[], QuerySet[Any, Any]]) -> None:
        super().__init__()
        self._build = build

    def first(self, using: str, **values: Any) -> tuple[Any, ...] | None:
        """The first row, or None."""
        rows = self.all(using, **values)
        return rows[0] if rows else None

    def all(self, using: str, **values: Any) -> list[tuple[Any, ...]]:
        sql, params, converters = self._plan_for(using)
        connection = connections[using]
        with connection.cursor() as cursor:
            cursor.execute(sql, _bound(params, values, connection))
            rows = cursor.fetchall()
        return [_converted(row, converters, connection) for row in rows]

    def _plan(self, using: str) -> Any:
        compiler = self._build().query.get_compiler(using)
        sql, params = compiler.as_sql()
        expressions = [expression for expression, _, _ in compiler.select]
        found = compiler.get_converters(expressions).items()
        return sql, params, [(place, make, of) for place, (make, of) in found]


class Update(_Statement):
    """`build` makes the queryset to change; `changes` are values or expressions with `param`s."""

    def __init__(
        self, build: Callable[[], QuerySet[Any, Any]], changes: Callable[[], dict[str, Any]]
    ) -> None:
        super().__init__()
        self._build, self._changes = build, changes

    def run(self, using: str, **values: Any) -> int:
        """How many rows matched."""
        return self.bound(using, **values).run()

    def bound(self, using: str, **values: Any) -> Bound:
        """The same for later."""
        sql, params = self._plan_for(using)
        connection = connections[using]
        return Bound(connection, sql, _bound(params, values, connection))

    def _plan(self, using: str) -> Any:
        query: Any = self._build().query.chain(UpdateQuery)
        query.add_update_values(self._changes())
        return query.get_compiler(using).as_sql()


class Insert(_Statement):
    """One row of a model whose primary key is known beforehand; sends no model signals."""

    def __init__(self, model: Callable[[], type[Model]]) -> None:
        super().__init__()
        self._model = model

    def run(self, using: str, row: Model, *before: Bound) -> None:
        """`before` change other tables, in this order."""
        sql, fields = self._plan_for(using)
        connection = connections[using]
        values = [f.get_db_prep_save(getattr(row, f.attname), connection) for f in fields]
        _together(before, Bound(connection, sql, values))
        row._state.adding, row._state.db = False, using

    def _plan(self, using: str) -> Any:
        meta = self._model()._meta
        quote = connections[using].ops.quote_name
        columns = ", ".join(quote(str(field.column)) for field in meta.concrete_fields)
        places = ", ".join(["%s"] * len(meta.concrete_fields))
        # Names come from our own models, quoted; every value is a parameter.
        sql = f"INSERT INTO {quote(meta.db_table)} ({columns}) VALUES ({places})"  # noqa: S608
        return sql, meta.concrete_fields


def joins(connection: Any) -> bool:
    """Whether its database changes several tables in one statement, which spares ways there and
    back: PostgreSQL does."""
    return bool(connection.vendor == "postgresql")


def _together(before: Sequence[Bound], last: Bound) -> None:
    connection = last.connection
    if not joins(connection) or any(one.connection is not connection for one in before):
        for statement in (*before, last):
            statement.run()
        return
    if before:
        # Locks are taken in the order that was asked for: what stands in WITH, and is not read by
        # what follows, is done after it and from the last one to the first.
        backwards = list(reversed(before))
        parts = ", ".join(f"change{n} AS ({one.sql})" for n, one in enumerate(backwards))
        params = [value for one in backwards for value in one.params]
        last = Bound(connection, f"WITH {parts} {last.sql}", params + last.params)
    last.run()


def _bound(params: Any, values: dict[str, Any], connection: Any) -> list[Any]:
    return [
        p.output_field.get_db_prep_value(values[p.name], connection) if isinstance(p, Param) else p
        for p in params
    ]


def _converted(row: Any, converters: Any, connection: Any) -> tuple[Any, ...]:
    values = list(row)
    for place, makers, expression in converters:
        for convert in makers:
            values[place] = convert(values[place], expression, connection)
    return tuple(values)


@contextmanager
def planned_for_values(using: str) -> Iterator[None]:
    """Within, PostgreSQL plans each statement for the values it comes with.

    A statement that psycopg has prepared is soon planned once for all values, as if each were as
    common as any other. That suits a look-up by key. A list that is narrowed to something rare may
    then walk along the whole table, for seconds, since most rows have another value in common.
    """
    connection = connections[using]
    connection.ensure_connection()
    prepares = getattr(connection.connection, "prepare_threshold", None)
    if prepares is None:
        yield
        return
    connection.connection.prepare_threshold = None
    try:
        yield
    finally:
        connection.connection.prepare_threshold = prepares


@settings.on_host_change
def _forget() -> None:
    for statement in _statements:
        statement.forget()
