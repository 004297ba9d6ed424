"""Statements that are compiled once and run often.

Building SQL from a queryset costs several times as much as running it by primary key. These classes
cache the SQL per database alias and run it with new parameters through Django's own adapters and
converters, so UUIDs, booleans and times are correct on every database:

    by_id = Select(lambda: Session.objects.filter(pk=param("id", Session)).values_list())
    row = by_id.first(using, id=value)

PostgreSQL runs them as prepared statements: planning the joins of a look-up by key costs it several
times as much as running it. Django turns the preparation of psycopg off (`prepare_threshold` is
None), and its default cursors insert the values on the client, which never prepares. Our statements
therefore run on a cursor of their own, with a threshold while they run. The project's own
statements are not affected. This needs a kept connection to the server itself. Behind a pooler that
changes connections between transactions (PgBouncer), a statement may be missing, or its name may
belong to a statement of another client.
"""

from __future__ import annotations

import logging
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from itertools import count
from operator import attrgetter, methodcaller
from typing import Any, NamedTuple, TypeVar, overload
from weakref import WeakKeyDictionary

from django.db import Error, OperationalError, connections, models
from django.db.models import Expression, Model, Q, QuerySet
from django.db.models.constants import OnConflict
from django.db.models.sql import UpdateQuery

from authservice.kernel import settings
from authservice.kernel.sections import root

logger = logging.getLogger("authservice.request")

Result = TypeVar("Result")
# Fields whose values need no preparation by Django on PostgreSQL, if they have the Python type of
# the field: its drivers adapt them.
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
# psycopg runs a statement this often on a connection before it prepares it.
_THRESHOLD = 2
# SQLSTATEs: no such statement, its name is in use, a column that it reads has changed its type.
_MISSING, _DUPLICATE, _CHANGED = "26000", "42P05", "0A000"
# Whether statements are prepared on a connection of psycopg.
_allowed: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()
# Aliases of databases that have lost prepared statements.
_lost: set[str] = set()
# What `run` reads from the cursor.
_rowcount: Callable[[Any], int] = attrgetter("rowcount")
_fetch_all: Callable[[Any], Sequence[Any]] = methodcaller("fetchall")


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


class _Plans(dict[str, Any]):
    """What `compile_for` returns for a database alias, compiled when it is first looked up."""

    def __init__(self, compile_for: Callable[[str], Any]) -> None:
        self._compile_for = compile_for

    def __missing__(self, using: str) -> Any:
        plan = self[using] = self._compile_for(using)
        return plan


class _Statement(ABC):
    """SQL and parameters per database alias; `_plan` compiles them on the first run."""

    def __init__(self) -> None:
        self._plans = _Plans(self._plan)
        _statements.append(self)

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

    @overload
    def run(self) -> int: ...
    @overload
    def run(self, read: Callable[[Any], Result], *, again: bool = False) -> Result: ...
    def run(self, read: Callable[[Any], Any] = _rowcount, *, again: bool = False) -> Any:
        """Run the statement on a cursor of Django, so that instrumentation sees it, and return
        `read(cursor)`: by default the number of affected rows. The cursor prepares statements if
        it may.

        Raises `PreparedStatementLost` inside a transaction; outside of one, the statement is run
        `again`, once.
        """
        connection = self.connection
        driver = connection.connection
        # A threshold other than None is the project's own choice. Other drivers have none.
        prepares: bool | None = (
            getattr(driver, "prepare_threshold", 0) is None and connection.alias not in _lost
        )
        if prepares and (prepares := _allowed.get(driver)) is None:  # not decided yet
            prepares = _allowed[driver] = _should_prepare(connection)
        try:
            if prepares:
                former_factory = driver.cursor_factory
                aware = connection.timezone is not None
                driver.cursor_factory = _preparing(connection.Database, aware)
                try:
                    cursor_context = connection.cursor()
                finally:
                    driver.cursor_factory = former_factory
            else:
                cursor_context = connection.cursor()
            with cursor_context as cursor:
                cursor.execute(self.sql, self.params)
                return read(cursor)
        except Error as error:
            if again or not _has_lost_statement(connection, error):
                raise
        return self.run(read, again=True)


class _ByName(_Statement):
    """A statement whose values are passed by name: its plan is SQL, slots and converters."""

    def bound(self, using: str, **values: Any) -> Bound:
        """The statement with these values, to be run later."""
        sql, slots, _ = self._plans[using]
        connection = connections[using]
        pairs = ((values[name] if name else constant, prepare) for name, prepare, constant in slots)
        params = [prepare(value, connection) if prepare else value for value, prepare in pairs]
        return Bound(connection, sql, params)


class Select(_ByName):
    """`build` returns a `values_list` queryset with `param`s in its filters."""

    def __init__(self, build: Callable[[], QuerySet[Any, Any]]) -> None:
        super().__init__()
        self._build = build

    def first(self, using: str, **values: Any) -> tuple[Any, ...] | None:
        """The first row, or None."""
        rows = self.all(using, **values)
        return rows[0] if rows else None

    def all(self, using: str, **values: Any) -> list[tuple[Any, ...]]:
        statement = self.bound(using, **values)
        fetched = statement.run(_fetch_all)
        converters = self._plans[using][2]
        if not converters:
            return list(fetched)
        rows = [list(row) for row in fetched]
        for row in rows:
            for index, convert, expression in converters:
                row[index] = convert(row[index], expression, statement.connection)
        return [tuple(row) for row in rows]

    def _plan(self, using: str) -> Any:
        query: Any = self._build().query.chain()
        # Django gives each column an alias, which nothing here reads. Where the project itself has
        # chosen server-side parameters, psycopg parses a statement of more than 4,096 characters at
        # each run: 4 % of the instructions of `GET /me`.
        if query.selected and all(isinstance(place, int) for place in query.selected.values()):
            query.selected = None
        compiler = query.get_compiler(using)
        sql, params = compiler.as_sql()
        expressions = [expression for expression, _, _ in compiler.select]
        converters = compiler.get_converters(expressions).items()
        conversions = [
            (index, convert, column)
            for index, (functions, column) in converters
            for convert in functions
        ]
        return sql, _slots(params, compiler.connection), conversions


class Update(_ByName):
    """`build` returns the queryset to update, `changes` the new values: plain, or with `param`s."""

    def __init__(
        self, build: Callable[[], QuerySet[Any, Any]], changes: Callable[[], dict[str, Any]]
    ) -> None:
        super().__init__()
        self._build, self._changes = build, changes

    def run(self, using: str, **values: Any) -> int:
        """Run the update; returns the number of matched rows."""
        return self.bound(using, **values).run()

    def _plan(self, using: str) -> Any:
        query: Any = self._build().query.chain(UpdateQuery)
        query.add_update_values(self._changes())
        compiler = query.get_compiler(using)
        sql, params = compiler.as_sql()
        return sql, _slots(params, compiler.connection), ()


def updating(rows: QuerySet[Any, Any], **changes: Any) -> Bound:
    """`rows.update(**changes)` as a statement, to be run later."""
    query: Any = rows.query.chain(UpdateQuery)
    query.add_update_values(changes)
    sql, params = query.get_compiler(rows.db).as_sql()
    return Bound(connections[rows.db], sql, list(params))


class Insert(_Statement):
    """Inserts rows of a model whose primary keys are already set; sends no model signals."""

    def __init__(self, model: Callable[[], type[Model]]) -> None:
        super().__init__()
        self._model = model

    def run(self, using: str, *rows: Model) -> None:
        self.bound(using, *rows).run()

    def bound(self, using: str, *rows: Model) -> Bound:
        """The statement that inserts these rows, to be run later. They count as stored."""
        sql, placeholders, columns = self._plans[using]
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


class InsertUnlessStored(Insert):
    """Inserts one row, unless one with the same unique key is stored: `run` of the bound statement
    returns 0 then. It waits for a concurrent transaction that inserts the same key, and unlike an
    error it leaves the transaction usable on PostgreSQL."""

    def bound(self, using: str, *rows: Model) -> Bound:
        statement = super().bound(using, *rows)
        operations = statement.connection.ops
        begin = operations.insert_statement(on_conflict=OnConflict.IGNORE)
        end = operations.on_conflict_suffix_sql((), OnConflict.IGNORE, (), ())
        sql = statement.sql.replace("INSERT INTO", begin, 1)
        return statement._replace(sql=f"{sql} {end}".rstrip())


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


def changed_together(*updates: Bound) -> tuple[int, ...]:
    """Run UPDATEs of different tables; returns the number of rows that each one changed.

    PostgreSQL runs them as one statement with CTEs, all of them in any case, so a caller that needs
    all or none must roll back. Elsewhere they run in this order.
    """
    first = updates[0].connection
    if first.vendor != "postgresql" or any(update.connection is not first for update in updates):
        return tuple(update.run() for update in updates)
    parts = [f"change{n} AS ({update.sql} RETURNING 1)" for n, update in enumerate(updates)]
    # The names are made of numbers; every value is a parameter.
    counts = [f"(SELECT COUNT(*) FROM change{n})" for n in range(len(updates))]  # noqa: S608
    sql = f"WITH {', '.join(parts)} SELECT {', '.join(counts)}"
    params = [value for update in updates for value in update.params]
    (row,) = Bound(first, sql, params).run(_fetch_all)
    return tuple(row)


def _preparation(field: Any, connection: Any) -> Callable[[Any, Any], Any] | None:
    """Django's preparation of a field's values for the driver; None if the driver needs none.

    Django's preparation calls several methods for each value: a tenth of the calls of a login.
    """
    plain = connection.vendor == "postgresql" and type(field) in _PLAIN
    return None if plain else field.get_db_prep_save


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


class PreparedStatementLost(OperationalError):
    """A prepared statement was lost. The transaction is aborted and may be repeated."""


def _has_lost_statement(connection: Any, error: Error) -> bool:
    """Whether the server has lost the prepared statement, so that it may be run again. Raises
    `PreparedStatementLost` inside a transaction, which the error has aborted."""
    state = getattr(error.__cause__, "sqlstate", None)
    if state not in (_MISSING, _DUPLICATE, _CHANGED):
        return False
    if state == _CHANGED and not connection.in_atomic_block:
        # psycopg forgets all names after a rollback. Here there is nothing else to undo.
        # `bool` reads nothing of the result.
        Bound(connection, "ROLLBACK", []).run(bool)
    elif state != _CHANGED and connection.alias not in _lost:
        _lost.add(connection.alias)
        logger.error(
            "Database %r does not keep prepared statements (%s), so this process no longer"
            " prepares any. Behind a pooler, set AUTHSERVICE['PREPARED_STATEMENTS'] to"
            " 'never'.",
            connection.alias,
            error,
        )
    if connection.in_atomic_block or not connection.get_autocommit():
        raise PreparedStatementLost(*error.args) from error
    return True


@cache
def _preparing(driver: Any, aware: bool) -> Any:
    """The class of cursors that prepare statements; `aware` says whether times are aware."""
    loader = driver.types.datetime.TimestamptzLoader

    class PreparingCursor(driver.RawCursor):  # type: ignore[misc]
        def execute(self, query: str, params: Any = None) -> Any:
            if aware:  # psycopg's own loader is in C, Django's in Python: see docs/benchmarks.rst.
                self.adapters.register_loader("timestamptz", loader)
            self.connection.prepare_threshold = _THRESHOLD
            try:
                return super().execute(_numbered(query), params)
            finally:
                self.connection.prepare_threshold = None

    return PreparingCursor


@lru_cache(maxsize=256)
def _numbered(sql: str) -> bytes:
    """The statement with PostgreSQL's own `$1`, `$2`, … instead of `%s`. psycopg would convert a
    statement of more than 4096 characters or 50 values, as some of ours are, for each request."""
    number = count(1)
    text = re.sub("%[s%]", lambda match: f"${next(number)}" if match[0] == "%s" else "%", sql)
    return text.encode()


def _should_prepare(connection: Any) -> bool:
    """Whether to prepare statements on this open connection, by `PREPARED_STATEMENTS`."""
    mode, options = root.prepared_statements, connection.settings_dict
    if not hasattr(connection.Database, "RawCursor"):
        return False  # psycopg before 3.2
    if mode != "auto":
        return bool(mode == "always")
    persistent = options["CONN_MAX_AGE"] != 0 or bool(options["OPTIONS"].get("pool"))
    # Projects set this option behind a pooler that changes connections between transactions.
    pooled = bool(options.get("DISABLE_SERVER_SIDE_CURSORS"))
    if pooled or not persistent:
        return False
    # The connection must lead to the server itself. A pooler reports other process ids.
    with connection.wrap_database_errors, connection.Database.Cursor(connection.connection) as raw:
        (pid,) = raw.execute("SELECT pg_backend_pid()").fetchone()
    return bool(pid == connection.connection.info.backend_pid)


@settings.on_change
def _forget_connections() -> None:
    _allowed.clear()
    _lost.clear()


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
        # SQLite's LIKE ignores case for ASCII only; `iregex` runs in Python.
        return _any_of(columns, "iregex", re.escape(text))
    return _any_of(columns, "icontains", text)


def _any_of(columns: tuple[str, ...], lookup: str, value: str) -> Q:
    return Q(*((f"{column}__{lookup}", value) for column in columns), _connector=Q.OR)
