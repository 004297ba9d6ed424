"""The database that users and all their rows are written to."""

from __future__ import annotations

from django.contrib.auth import get_user_model
from django.db import router


def primary() -> str:
    """The alias of the database that users are written to.

    Rules read from it too: a replica lags behind, so a revoked session would still be valid there.
    """
    return router.db_for_write(get_user_model())
