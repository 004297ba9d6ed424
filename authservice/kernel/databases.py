"""The database that users and all their rows are written to."""

from __future__ import annotations

from typing import Any, TypeVar

from django.contrib.auth import get_user_model
from django.db import (
    DEFAULT_DB_ALIAS,
    DatabaseError,
    DataError,
    IntegrityError,
    connections,
    models,
    router,
)

from authservice.kernel import outages

Row = TypeVar("Row", bound=models.Model)


def primary() -> str:
    """The alias of the database that users are written to.

    Reads use it too: a replica lags behind, so a revoked session would still be valid there.
    """
    # Most projects have no router. Asking Django takes ten calls, several times in each request.
    return router.db_for_write(get_user_model()) if router.routers else DEFAULT_DB_ALIAS


def written(model: type[models.Model]) -> str:
    """The alias of the database that the rows of another package's model are written to."""
    return router.db_for_write(model)


class PrimaryManager(models.Manager[Row]):
    """Reads and writes in the database of `primary()`, unless a statement names another one.

    Without it, Django would ask the routers of the host project, and they may send reads to a
    replica.
    """

    def get_queryset(self) -> models.QuerySet[Row]:
        return super().get_queryset().using(self._db or primary())


class OfUserManager(PrimaryManager[Row]):
    """For rows of which each user has at most one: their natural key is that of the user, so that a
    fixture with natural keys follows the users to whatever numbers they have elsewhere."""

    def get_by_natural_key(self, *key: Any) -> Row:
        users: Any = get_user_model()._default_manager
        return self.get(user=users.db_manager(self._db or primary()).get_by_natural_key(*key))


# A trigger of the project refuses a row. With SQLite it is an `IntegrityError`.
#
# PostgreSQL: `RAISE` may name any SQLSTATE, and a driver chooses the class of the error by it. The
# server names its own C function too, which runs every `RAISE`. Errors of class P0 are those of
# PL/pgSQL; other languages use P0001.
_RAISE, _PLPGSQL = "exec_stmt_raise", "P0"
# MariaDB and MySQL: `SIGNAL` has the number 1644, unless it sets another one (`MYSQL_ERRNO`). No
# server and no storage engine reports numbers from 20,000 on itself.
_SIGNAL, _NUMBERS_OF_PROJECTS = 1644, 20_000


def is_refusal(error: DatabaseError) -> bool:
    """Whether the table refuses the row: by a constraint, by the type of a column or by a trigger,
    so that the same row would be refused again."""
    return isinstance(error, IntegrityError | DataError) or is_of_trigger(error)


def is_of_trigger(error: DatabaseError) -> bool:
    """Whether a trigger of the project refuses the row, on a server. A trigger that reports a
    deadlock or another temporary error asks for a retry instead."""
    cause = error.__cause__
    sqlstate = getattr(cause, "sqlstate", None) or getattr(cause, "pgcode", None) or ""
    function = getattr(getattr(cause, "diag", None), "source_function", None)
    number = error.args[0] if error.args and isinstance(error.args[0], int) else 0
    refused = (
        function == _RAISE
        or sqlstate.startswith(_PLPGSQL)
        or number == _SIGNAL
        or number >= _NUMBERS_OF_PROJECTS
    )
    return refused and not outages.is_temporary(error)


# MariaDB and MySQL: a value has characters that the character set of the column lacks; it cannot be
# stored (1366), or not be compared with the column (1267; MySQL 8: 3988).
_CHARSET = (1267, 1366, 3988)


def is_of_charset(error: DatabaseError) -> bool:
    """Whether a column cannot hold the characters of a value, such as an emoji in `utf8mb3`."""
    is_mysql = connections[primary()].vendor == "mysql"
    return is_mysql and bool(error.args) and error.args[0] in _CHARSET
