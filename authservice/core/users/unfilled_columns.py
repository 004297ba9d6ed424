"""Columns of the host's user model that no sign-up fills, and why the table refuses users without
them: for the system checks.

Each new user has the same value there: the default, "" or NULL. A unique constraint whose columns
are all of this kind refuses every user but the first, unless one of the values is NULL. In doubt a
constraint is left out, so that a project with a rule of its own gets no false warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.db import connections
from django.db.models import F, OrderBy, UniqueConstraint, Value
from django.db.models.expressions import BaseExpression
from django.db.models.fields import NOT_PROVIDED
from django.db.models.functions import Cast, Coalesce, Collate, Concat, Lower

from authservice.core.users import extra_fields
from authservice.core.users.user_model import host
from authservice.kernel.databases import primary

_SAME = "is unique and would have the same value for each new user"
# These and the functions for texts return NULL only for NULL, unlike `NullIf` or `Case`.
_STRICT = (Cast, Collate, OrderBy)


def problems() -> list[str]:
    """Each column or constraint, with the reason for which the table refuses users."""
    return list(dict.fromkeys([*_of_columns(), *_of_constraints()]))


def filled() -> set[str]:
    """The names of the columns that sign-ups fill."""
    names = host()
    own_columns = {names.email, names.username, names.natural, names.first_name, names.last_name}
    key = names.model._meta.pk.name
    # The first login, mostly right after the sign-up, stores its time.
    return {*own_columns, key, "password", "last_login", *extra_fields.filled_columns()}


def _of_columns() -> Iterator[str]:
    for field in host().model._meta.concrete_fields:
        if not _is_same(F(field.name)):
            continue
        if field.unique and _has_value(F(field.name)):
            yield f".{field.name} {_SAME}"
        elif not (field.null or field.generated or _has_value(F(field.name))):
            yield f".{field.name} is required"


def _of_constraints() -> Iterator[str]:
    model = host().model
    for options in (model._meta, *(parent._meta for parent in model._meta.all_parents)):
        for names in options.unique_together:
            if _collides([F(name) for name in names]):
                yield f": unique_together of {', '.join(names)} {_SAME}"
        for constraint in options.constraints:
            if not isinstance(constraint, UniqueConstraint) or not _refuses(constraint):
                continue
            single = len(constraint.fields) == 1
            subject = f".{constraint.fields[0]}" if single else f": constraint {constraint.name}"
            yield f"{subject} {_SAME}"


def _refuses(constraint: Any) -> bool:
    """Whether the constraint refuses each new user but the first one.

    A condition is left out: only the database can evaluate it. A deferrable constraint refuses the
    user too, with the commit.
    """
    vendor = connections[primary()].vendor
    # Django omits a constraint with an option that the database does not have.
    options = (constraint.deferrable, constraint.nulls_distinct, constraint.include or None)
    if vendor != "postgresql" and any(option is not None for option in options):
        return False
    # MySQL has constraints of expressions, MariaDB has none, and the vendor of both is the same.
    if constraint.condition is not None or (constraint.expressions and vendor == "mysql"):
        return False
    expressions = [F(name) for name in constraint.fields] or constraint.expressions
    return _collides(expressions, nulls_distinct=constraint.nulls_distinct is not False)


def _collides(expressions: Sequence[Any], *, nulls_distinct: bool = True) -> bool:
    """Whether the table cannot hold two new users, whose expressions all have the same values."""
    if not all(map(_is_same, expressions)):
        return False
    return not nulls_distinct or all(map(_has_value, expressions))


def _is_same(expression: Any) -> bool:
    """Whether the expression has the same value for each new user, or NULL. False if in doubt."""
    if isinstance(expression, Value):
        return True
    if not isinstance(expression, F):
        sources = _sources(expression)  # a function without any, such as Now, may return anything
        return bool(sources) and all(map(_is_same, sources))
    field = _column(expression)
    if field is None or field.primary_key or field.name in filled():
        return False
    # The values differ if the field makes up its value, such as a slug from another field: then
    # `pre_save` is not that of a field of Django. They also differ if Django fills the column: a
    # parent link, or `auto_now`.
    flags = ("auto_now", "auto_now_add")
    is_parent_link = getattr(field.remote_field, "parent_link", False)
    is_of_django = type(field).pre_save.__module__.startswith("django.db.models.")
    if is_parent_link or not is_of_django or any(getattr(field, flag, 0) for flag in flags):
        return False
    if field.generated:
        return _is_same(field.expression)
    if field.has_default():
        return not callable(field.default)
    return isinstance(field.db_default, Value) or not isinstance(field.db_default, BaseExpression)


def _has_value(expression: Any) -> bool:
    """Whether the expression, which is the same for each new user, is not NULL. False if in
    doubt."""
    if isinstance(expression, Value):
        return expression.value is not None
    if isinstance(expression, F):
        field = _column(expression)
        if field is None or _has_transform(expression):
            return False
        if field.generated:
            return _has_value(field.expression)
        if field.has_default() or field.db_default is NOT_PROVIDED:
            # Django gives a text without a default the value "".
            return field.get_default() is not None
        constant = field.db_default
        return (constant.value if isinstance(constant, Value) else constant) is not None
    sources = _sources(expression)
    if isinstance(expression, Coalesce):
        return any(map(_has_value, sources))
    is_for_text = type(expression).__module__ == Lower.__module__
    is_strict = is_for_text or isinstance(expression, _STRICT)
    return isinstance(expression, Concat) or (is_strict and all(map(_has_value, sources)))


def _sources(expression: Any) -> list[Any]:
    if not isinstance(expression, BaseExpression):
        return []  # such as a Q, of which nothing is known
    return [source for source in expression.get_source_expressions() if source is not None]


def _column(reference: Any) -> Any:
    """The field that an `F` names, None if there is none."""
    try:
        return host().model._meta.get_field(reference.name.split("__")[0])
    except FieldDoesNotExist:
        return None  # such as "pk"


def _has_transform(reference: Any) -> bool:
    """Whether the `F` names a part of the column, such as a key in JSON, which may be NULL where
    the column is not."""
    return "__" in reference.name
