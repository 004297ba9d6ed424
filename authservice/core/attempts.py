"""Counters of tries that hold exactly: counted in the database before anything is judged.

One statement takes a try, and whether it changed a row is the verdict, so parallel guesses cannot
share one. It runs and commits on its own: a refused request keeps its count.

A budget of `limit` tries opens with the first one and closes after `window`. When it is used up the
door stays shut for a full window; after that each single try is followed by a longer wait, up to
`longest`, until a day passes without one.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connections, router
from django.db.models import F
from django.utils import timezone

from authservice.core.attempts_sql import STRIKES, statements
from authservice.core.models import Attempt
from authservice.kernel import crypto, errors
from authservice.kernel.sql import Bound, Update, param

FORGIVEN_AFTER = timedelta(days=1)


@dataclass(frozen=True, kw_only=True)
class Budget:
    """`limit` tries in `window`, then waits that double from `window` up to `longest`.

    After `forgiven_after` without a try everything starts anew; at most `FORGIVEN_AFTER`, when the
    sweep forgets every counter.
    """

    limit: int
    window: timedelta
    longest: timedelta
    forgiven_after: timedelta = FORGIVEN_AFTER

    def __post_init__(self) -> None:
        if self.forgiven_after > FORGIVEN_AFTER:
            raise ValueError("A budget cannot remember for longer than its counter is kept.")

    @classmethod
    def fixed(cls, *, limit: int, window: timedelta) -> Budget:
        """`limit` in every `window`; no wait grows."""
        return cls(limit=limit, window=window, longest=window, forgiven_after=timedelta(0))

    def wait(self, strikes: int) -> timedelta:
        """How long a window lasts that opens after so many used-up ones."""
        longer: timedelta = self.window * 2 ** max(strikes - 1, 0)
        return min(longer, self.longest)


PASSWORD = Budget(limit=10, window=timedelta(minutes=15), longest=timedelta(hours=1))


def key(scope: str, subject: str) -> str:
    """The row that counts `scope` for `subject`; a keyed digest, so unknown ones count alike."""
    return crypto.digest("attempt", f"{scope}:{subject}")


def take(key: str, budget: Budget) -> None:
    """Count one try. Raises `TooManyAttempts` when none is left."""
    if not counted(key, budget):
        raise errors.TooManyAttempts(headers={"Retry-After": str(_wait(key))})


def counted(key: str, budget: Budget) -> bool:
    """Count one try; False when none is left, and then nothing was counted."""
    using = router.db_for_write(Attempt)
    connection = connections[using]
    values = _values(key, budget, timezone.now(), connection)
    with connection.cursor() as cursor:
        for statement in statements(connection):
            cursor.execute(statement.sql, [values[name] for name in statement.names])
            if cursor.rowcount > 0:
                return True
    return False


def give_back(key: str) -> None:
    """A try that succeeded was no guess."""
    _GIVE_BACK.run(router.db_for_write(Attempt), key=key)


def giving_back(key: str) -> Bound:
    """The same, to be done beside another statement."""
    return _GIVE_BACK.bound(router.db_for_write(Attempt), key=key)


def forget(keys: Collection[str]) -> None:
    """Let all of them start anew."""
    Attempt.objects.using(router.db_for_write(Attempt)).filter(key__in=keys).delete()


_GIVE_BACK = Update(
    lambda: Attempt.objects.filter(key=param("key", Attempt), count__gt=0),
    lambda: {"count": F("count") - 1},
)


def _wait(key: str) -> int:
    row = Attempt.objects.using(router.db_for_write(Attempt)).filter(key=key).first()
    return max(1, int((row.ends_at - timezone.now()).total_seconds()) + 1) if row else 1


def _values(key: str, budget: Budget, now: datetime, connection: Any) -> dict[str, Any]:
    adapt = connection.ops.adapt_datetimefield_value
    return {
        "key": key,
        "limit": budget.limit,
        "now": adapt(now),
        "forgiven": adapt(now - budget.forgiven_after),
        **{f"end{n}": adapt(now + budget.wait(n)) for n in range(STRIKES + 1)},
    }
