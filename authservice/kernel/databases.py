"""The database that users and all their rows are written to."""

from __future__ import annotations

from typing import TypeVar

from django.contrib.auth import get_user_model
from django.db import DEFAULT_DB_ALIAS, models, router

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
