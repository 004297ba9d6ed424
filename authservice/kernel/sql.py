"""Querysets compiled once and run often.

Building SQL from a queryset costs several times what running it by primary key does. `Compiled`
keeps the SQL of a `values_list` queryset per database alias and runs it with new parameters through
Django's own adapters and converters, so UUIDs, booleans and times come out right on every database.

    by_id = Compiled(lambda: SignIn.objects.filter(pk=param("id", SignIn._meta.pk)).values_list())
    row = by_id.first(using, id=value)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import connections
from django.db.models import Expression, Field, QuerySet

from authservice.kernel import conf

_compiled: list[Compiled] = []


class Param(Expression):
    """A placeholder for a value that is only known when the statement runs."""

    def __init__(self, name: str, field: Field[Any, Any]) -> None:
        super().__init__(output_field=field)
        self.name = name

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:
        return "%s", [self]


def param(name: str, field: Any) -> Param:
    return Param(name, field)


class Compiled:
    """One statement; `build` makes its `values_list` queryset, lazily and once per alias."""

    def __init__(self, build: Callable[[], QuerySet[Any, Any]]) -> None:
        self._build = build
        self._plans: dict[str, _Plan] = {}
        _compiled.append(self)

    def first(self, using: str, **values: Any) -> tuple[Any, ...] | None:
        """The first row, or None."""
        plan = self._plans.get(using) or self._plan(using)
        connection = connections[using]
        with connection.cursor() as cursor:
            cursor.execute(plan.sql, plan.parameters(values, connection))
            row = cursor.fetchone()
        return None if row is None else plan.convert(row, connection)

    def all(self, using: str, **values: Any) -> list[tuple[Any, ...]]:
        plan = self._plans.get(using) or self._plan(using)
        connection = connections[using]
        with connection.cursor() as cursor:
            cursor.execute(plan.sql, plan.parameters(values, connection))
            rows = cursor.fetchall()
        return [plan.convert(row, connection) for row in rows]

    def _plan(self, using: str) -> _Plan:
        plan = self._plans[using] = _Plan(self._build(), using)
        return plan

    def forget(self) -> None:
        self._plans.clear()


class _Plan:
    def __init__(self, queryset: QuerySet[Any, Any], using: str) -> None:
        compiler = queryset.query.get_compiler(using)
        self.sql, self._params = compiler.as_sql()
        expressions = [expression for expression, _, _ in compiler.select]
        self._converters = [
            (position, converters, expression)
            for position, (converters, expression) in compiler.get_converters(expressions).items()
        ]

    def parameters(self, values: dict[str, Any], connection: Any) -> list[Any]:
        return [
            p.output_field.get_db_prep_value(values[p.name], connection)
            if isinstance(p, Param)
            else p
            for p in self._params
        ]

    def convert(self, row: Any, connection: Any) -> tuple[Any, ...]:
        values = list(row)
        for position, converters, expression in self._converters:
            value = values[position]
            for converter in converters:
                value = converter(value, expression, connection)
            values[position] = value
        return tuple(values)


@conf.on_change
def _forget() -> None:
    for compiled in _compiled:
        compiled.forget()
