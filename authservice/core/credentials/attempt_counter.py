"""Exact counters of attempts: counted in the database before anything is checked.

One statement opens, continues or reopens a window; it changes no row if no attempt is left. Its row
count says whether the attempt is allowed, so two parallel attempts cannot both be the last one. The
statement commits in its own transaction: a refused request keeps its count.

A budget of `limit` attempts opens with the first one and closes after `window`. When it is used up,
no attempt is allowed for a full window; after that, each single attempt is followed by a longer
wait, up to `longest`, until a day passes without one. A client that always stops one attempt before
the limit never waits; `daily` bounds its attempts. A fixed budget (`Budget.fixed`) opens again when
its window ends.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import Any

from django.db import connections
from django.db.models import Case, F, PositiveIntegerField, Q, When
from django.utils.functional import cached_property

from authservice.core.models import AttemptCounter
from authservice.kernel import clock, databases, errors, secret, settings, throttling
from authservice.kernel.sql import Bound, Update, param

STRIKES = 3  # used-up windows in a row after which waits do not grow any more
# In the SQL below, `_bind` replaces TABLE, each name of a column in brackets, and each name of a
# parameter after a colon. `count` is the number of attempts in the window, `strikes` the number of
# used-up windows in a row before it. `day_count` is the number of attempts until `day_ends_at`.
_COLUMNS = ("key", "count", "strikes", "ends_at", "day_count", "day_ends_at")
# Whether the window is used up: after a used-up window it allows one attempt only.
_SPENT = "TABLE.[count] >= CASE WHEN TABLE.[strikes] = 0 THEN :limit ELSE 1 END"
# The new number of strikes: unchanged within a window, one more after a used-up window that is not
# forgiven yet, otherwise 0.
_STRIKE = f"""CASE
    WHEN TABLE.[ends_at] > :now THEN TABLE.[strikes]
    WHEN TABLE.[ends_at] > :forgiven AND {_SPENT}
        THEN CASE WHEN TABLE.[strikes] >= {STRIKES} THEN {STRIKES} ELSE TABLE.[strikes] + 1 END
    ELSE 0 END"""
_COUNT = "CASE WHEN TABLE.[ends_at] > :now THEN TABLE.[count] + 1 ELSE 1 END"
_DAY_COUNT = "CASE WHEN TABLE.[day_ends_at] > :now THEN TABLE.[day_count] + 1 ELSE 1 END"
_DAY_END = "CASE WHEN TABLE.[day_ends_at] > :now THEN TABLE.[day_ends_at] ELSE :day_end END"
# Whether an attempt is allowed: the condition of the UPDATE.
_OPEN = f"""( TABLE.[ends_at] <= :now OR NOT ( {_SPENT} ) )
    AND ( TABLE.[day_ends_at] <= :now OR TABLE.[day_count] < :daily )"""
_INTO = "[key], [count], [strikes], [ends_at], [day_count], [day_ends_at]"
_FIRST = "VALUES ( :key, 1, 0, :end0, 1, :day_end )"
_MYSQL_INSERT = f"INSERT IGNORE INTO TABLE ( {_INTO} ) {_FIRST}"  # noqa: S608
FORGIVEN_AFTER = timedelta(days=1)
UNLIMITED = 2**31 - 1
DAY = timedelta(days=1)
_GIVE_BACK = Update(
    lambda: AttemptCounter.objects.filter(
        Q(key=param("key", AttemptCounter)) | Q(key=param("second_key", AttemptCounter, "key")),
        count__gt=0,
    ),
    lambda: {
        "count": F("count") - 1,
        "day_count": Case(
            When(day_count__gt=0, then=F("day_count") - 1),
            default=F("day_count"),
            output_field=PositiveIntegerField(),
        ),
    },
)


@dataclass(frozen=True)
class Statement:
    """SQL with the names of its parameters in order."""

    sql: str
    names: tuple[str, ...]


def statements(connection: Any) -> tuple[Statement, ...]:
    """The statements, to be executed in turn until one changes a row; if none does, no attempt is
    left."""
    own_transaction = not connection.in_atomic_block
    return _compiled(connection.alias, own_transaction)


@settings.cached_for_host
def _compiled(using: str, own_transaction: bool) -> tuple[Statement, ...]:
    connection = connections[using]
    table = connection.ops.quote_name(AttemptCounter._meta.db_table)
    if connection.vendor == "mysql":
        update = _bind(_MYSQL_UPDATE, table, connection)
        # The second UPDATE counts if another request has inserted the row since the first one.
        return update, _bind(_MYSQL_INSERT, table, connection), update
    asynchronous = own_transaction and connection.vendor == "postgresql"
    return (_bind(_ASYNCHRONOUS_UPSERT if asynchronous else _UPSERT, table, connection),)


def _bind(template: str, table: str, connection: Any) -> Statement:
    """Quote the names `[column]` and turn the parameters `:name` into placeholders."""
    sql, names = template.replace("TABLE", table), []
    for column in _COLUMNS:
        sql = sql.replace(f"[{column}]", connection.ops.quote_name(column))
    words = sql.split()
    for position, word in enumerate(words):
        name = word.strip("(),")
        if name.startswith(":"):
            names.append(name[1:])
            words[position] = word.replace(name, "%s")
    return Statement(" ".join(words), tuple(names))


def _end(strikes: str, count: str) -> str:
    """SQL for the end of the window; `strikes` and `count` are SQL for their new values.

    A count of `:hold` extends the window. If the budget does not extend, no count reaches it."""
    return f"""CASE
    WHEN TABLE.[ends_at] > :now AND TABLE.[strikes] = 0 AND {count} >= :hold THEN :end0
    WHEN TABLE.[ends_at] > :now THEN TABLE.[ends_at]
    ELSE CASE {strikes} WHEN 0 THEN :end0 WHEN 1 THEN :end1 WHEN 2 THEN :end2 ELSE :end3 END
    END"""


# In standard SQL every right-hand side of SET reads the old row.
_UPSERT = f"""INSERT INTO TABLE ( {_INTO} )
    {_FIRST} ON CONFLICT ( [key] ) DO UPDATE SET
    [strikes] = {_STRIKE}, [count] = {_COUNT}, [ends_at] = {_end(_STRIKE, "TABLE.[count] + 1")},
    [day_count] = {_DAY_COUNT}, [day_ends_at] = {_DAY_END}
    WHERE {_OPEN}"""  # noqa: S608 made of constants; every value is a parameter

# On PostgreSQL an attempt counted in its own transaction need not wait for the disk: other
# connections see it at once. Only a crash of the database server itself can lose counts, and only
# the latest. The setting ends with the statement's own transaction.
_ASYNCHRONOUS_UPSERT = _UPSERT.replace(
    _FIRST,
    "SELECT :key, 1, 0, :end0, 1, :day_end "
    "FROM ( SELECT set_config('synchronous_commit', 'off', true) ) AS setting",
)

# MySQL and MariaDB assign from left to right, and each expression reads the values assigned before
# it, so the order of the columns matters. Their upsert takes no condition. So an UPDATE runs first,
# and an INSERT counts the first attempt of a new counter.
_MYSQL_UPDATE = f"""UPDATE TABLE SET TABLE.[strikes] = {_STRIKE}, TABLE.[count] = {_COUNT},
    TABLE.[ends_at] = {_end("TABLE.[strikes]", "TABLE.[count]")},
    TABLE.[day_count] = {_DAY_COUNT}, TABLE.[day_ends_at] = {_DAY_END}
    WHERE TABLE.[key] = :key AND {_OPEN}"""  # noqa: S608


@dataclass(frozen=True, kw_only=True)
class Budget:
    """`limit` attempts in `window`, then waits that double from `window` up to `longest`; and at
    most `daily` in the 24 hours that begin with the first one.

    If it `extends`, the last attempt of a window begins a full wait. Otherwise the window ends when
    it would have ended anyway.

    After `forgiven_after` without an attempt the strikes are reset. It is at most `FORGIVEN_AFTER`,
    after which the cleanup deletes every counter.
    """

    limit: int
    window: timedelta
    longest: timedelta
    forgiven_after: timedelta = FORGIVEN_AFTER
    daily: int = UNLIMITED
    extends: bool = True

    def __post_init__(self) -> None:
        if self.forgiven_after > FORGIVEN_AFTER:
            raise ValueError("`forgiven_after` must not exceed `FORGIVEN_AFTER`.")

    @classmethod
    def fixed(cls, *, limit: int, window: timedelta, daily: int = UNLIMITED) -> Budget:
        """`limit` in every `window`; waits do not grow."""
        return cls(
            limit=limit,
            window=window,
            longest=window,
            forgiven_after=timedelta(0),
            daily=daily,
            extends=False,
        )

    @cached_property
    def windows(self) -> tuple[timedelta, ...]:
        """The lengths of the windows that open after 0, 1, 2, ... used-up windows in a row."""
        doubled = (self.window * 2 ** max(strikes - 1, 0) for strikes in range(STRIKES + 1))
        return tuple(min(length, self.longest) for length in doubled)


# An account has at most two identifiers, so unknown clients have 100 attempts per account and day.
PASSWORD = Budget(limit=10, window=timedelta(minutes=15), longest=timedelta(hours=1), daily=50)
# The known devices of an account share another 100.
ALL_DEVICES = Budget.fixed(limit=100, window=DAY)
_LOCKING = Budget.fixed(limit=UNLIMITED, window=DAY)  # of the rows of `lock`


@dataclass(frozen=True)
class Counter:
    """A counter with its budget; `attempts` says what it counts, as a lazy text after a number:
    "wrong passwords". `action` is recorded for each failed attempt. `blocks` says that a used-up
    counter prevents a login."""

    key: str
    budget: Budget
    attempts: Any
    action: str = ""
    blocks: bool = True


@dataclass(frozen=True)
class Lock:
    """A counter that allows no attempt before `until`, after `number` failed ones."""

    counter: Counter
    until: datetime
    number: int


def key(scope: str, subject: str) -> str:
    """The key of the row that counts `scope` for `subject`: a keyed digest. Unknown subjects are
    counted in the same way as known ones."""
    return secret.digest("attempt", f"{scope}:{subject}")


@clock.once
def consume(key: str, budget: Budget, *, report: Callable[[], None] | None = None) -> None:
    """Count one attempt. Raises `TooManyAttempts` if none is left.

    `report` is called for the first such refusal, and not again until attempts are allowed again.
    """
    if try_consume(key, budget):
        return
    now = clock.now()
    row = AttemptCounter.objects.filter(key=key).first()
    opens_at = _opens_at(row, budget, now) if row else now
    if report and row and (row.reported_until is None or row.reported_until <= now):
        # Of several requests that are refused at the same time, one reports it.
        unreported = Q(reported_until=None) | Q(reported_until__lte=now)
        if AttemptCounter.objects.filter(unreported, key=row.key).update(reported_until=opens_at):
            report()
    wait = max(1, ceil((opens_at - now).total_seconds()))
    raise errors.TooManyAttempts(headers={"Retry-After": str(wait)})


def consume_flood(key: str, budget: Budget) -> None:
    """Count one use of a flood limit, which `THROTTLE.ENABLED` turns off. Raises
    `TooManyRequests`."""
    if not throttling.conf.enabled:
        return
    try:
        consume(key, budget)
    except errors.TooManyAttempts as fault:
        raise errors.TooManyRequests(headers=fault.headers) from fault


def try_consume(key: str, budget: Budget) -> bool:
    """Count one attempt; False if none is left, and then nothing was counted."""
    connection = connections[databases.primary()]
    now = clock.now()
    adapt = connection.ops.adapt_datetimefield_value
    values = {
        "key": key,
        "limit": budget.limit,
        "hold": budget.limit if budget.extends else UNLIMITED,
        "daily": budget.daily,
        "day_end": adapt(now + DAY),
        "now": adapt(now),
        "forgiven": adapt(now - budget.forgiven_after),
        **{f"end{n}": adapt(now + length) for n, length in enumerate(budget.windows)},
    }
    return any(
        Bound(connection, statement.sql, [values[name] for name in statement.names]).run() > 0
        for statement in statements(connection)
    )


@databases.inside_transaction
def lock(key: str) -> None:
    """Wait until no other transaction has locked this key, and lock it until this one ends.

    For a rule about something that has no row which could be locked, such as the address of a user
    who does not exist. The row is a counter without a limit: counting locks it.
    """
    try_consume(key, _LOCKING)


def refund(key: str, second_key: str = "") -> None:
    """Give back an attempt that succeeded; `second_key` is a second counter of the same attempt."""
    refund_statement(key, second_key).run()


def refund_statement(key: str, second_key: str = "") -> Bound:
    """The statement of `refund`, which can be executed together with another one."""
    return _GIVE_BACK.bound(databases.primary(), key=key, second_key=second_key)


def restart_windows(keys: Collection[str]) -> None:
    """End the current windows of these counters of fixed budgets, so that the next attempt opens a
    full one; the daily counts are kept."""
    now = clock.now()
    AttemptCounter.objects.filter(key__in=keys, ends_at__gt=now).update(count=0, ends_at=now)


def ends_at(key: str) -> datetime | None:
    """When the current window of a counter ends, or None if nothing was counted."""
    return AttemptCounter.objects.filter(key=key).values_list("ends_at", flat=True).first()


def locks(counters: Iterable[Counter]) -> list[Lock]:
    """The counters among these that allow no attempt now, in one query."""
    by_key = {counter.key: counter for counter in counters}
    now = clock.now()
    active = []
    for row in AttemptCounter.objects.filter(key__in=by_key).order_by("-ends_at"):
        until = _opens_at(row, by_key[row.key].budget, now)
        if until > now:
            # The count of the day includes earlier windows, but may be that of a past day.
            day = row.day_count if row.day_ends_at > now else 0
            active.append(Lock(by_key[row.key], until, max(row.count, day)))
    return active


def reset(keys: Collection[str]) -> None:
    """Delete these counters."""
    AttemptCounter.objects.filter(key__in=keys).delete()


def _opens_at(row: AttemptCounter, budget: Budget, now: datetime) -> datetime:
    """When the next attempt may be counted."""
    limit = 1 if row.strikes else budget.limit
    window_opens = row.ends_at if row.count >= limit else now
    day_opens = row.day_ends_at if row.day_count >= budget.daily else now
    return max(window_opens, day_opens, now)
