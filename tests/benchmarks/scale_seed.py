"""Many users on PostgreSQL, copied in through the columns of the real models.

The cost of a search depends on where in an order the matching users are. So each of the twentieths
named below can be searched for: spread evenly, or all at one end of an order.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import make_password
from django.core.management import call_command
from django.core.management.color import no_style
from django.db import connection, models

from authservice.core.models import Account
from authservice.core.users.identifiers import email_key, username_key

# Search texts: one user; a twentieth everywhere; a twentieth at either end of each order.
ONE = "needle"
EVERYWHERE = "@everywhere."
OLDEST, NEWEST = "oldhand", "newhand"
FIRST, LAST = "aardvark", "zyzzyva"
SHARE = 20

BEGINNING = datetime(2020, 1, 1, tzinfo=UTC)
SPAN = timedelta(days=365 * 5)
_GIVEN = (
    "Ada",
    "Bela",
    "Cleo",
    "Dora",
    "Elif",
    "Femi",
    "Gita",
    "Hugo",
    "Iris",
    "Juan",
    "Kofi",
    "Lena",
)
_FAMILY = (
    "Abel",
    "Brandt",
    "Cruz",
    "Duarte",
    "Eklund",
    "Farkas",
    "Garcia",
    "Haddad",
    "Ito",
    "Jansen",
)
_PASSWORD = make_password(None)

Values = dict[str, Any]


def prepare(users: int, email: str, password: str) -> None:
    """Migrate and fill unless an earlier run has; the reader of the lists is one of the users."""
    call_command("migrate", verbosity=0)
    if Account.objects.exists():
        return
    fill(users)
    reader = get_user_model()(username="reader", email=email, is_superuser=True)
    reader.set_password(password)
    reader.save()


def fill(users: int) -> None:
    """Create the users and update the statistics of the database."""
    copy_users(users, _PASSWORD)
    _restart(get_user_model())
    call_command("authservice_search_index", verbosity=0, stdout=StringIO())
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def copy_users(users: int, password: str) -> None:
    """Insert the users, all with this password hash, and their accounts."""
    with _without_indexes():
        copy(get_user_model(), ({**user, "password": password} for user, _ in crowd(users)))
        copy(Account, (account for _, account in crowd(users)))


def crowd(users: int) -> Iterator[tuple[Values, Values]]:
    """For each user, the non-default values of the host's row and of the account."""
    dice = random.Random(users)  # noqa: S311 the same users each time
    places = list(range(users))
    dice.shuffle(places)
    step = SPAN / users
    for number, place in enumerate(places):
        names = _names(number, place, users, dice)
        yield _rows(number + 1, names, BEGINNING + step * number, dice)


def _names(number: int, place: int, users: int, dice: random.Random) -> tuple[str, str, str]:
    """Name, address and username of the user with the time rank `number` and the alphabetical rank
    `place`."""
    share = users // SHARE
    given, family = dice.choice(_GIVEN), dice.choice(_FAMILY)
    if place < share:
        given = FIRST.capitalize()
    elif place >= users - share:
        given = LAST.capitalize()
    if number < share:
        family = f"{OLDEST} {family}"
    elif number >= users - share:
        family = f"{NEWEST} {family}"
    if number == users // 2:
        family = f"{ONE} {family}"
    username = f"{given}.{number:x}".lower()
    domain = EVERYWHERE[1:] if dice.randrange(SHARE) == 0 else f"mail{dice.randrange(500)}."
    return f"{given} {family} {dice.randrange(10**6)}", f"{username}@{domain}example.com", username


def _rows(
    pk: int, names: tuple[str, str, str], created_at: datetime, dice: random.Random
) -> tuple[Values, Values]:
    name, email, username = names
    key, seen = email_key(email), dice.random() < 0.7
    user = {
        "id": pk,
        "email": email,
        "username": username,
        "is_active": dice.randrange(50) != 0,
        "is_superuser": pk % 300_000 == 7,
        "date_joined": created_at,
        "last_login": created_at + (_END - created_at) * dice.random() if seen else None,
    }
    account = {
        "user_id": pk,
        "email": email,
        "email_key": key,
        "email_claim": key,
        "username": username,
        "username_key": username_key(username),
        "username_claim": username_key(username),
        "name": name,
        "is_super_admin": pk % 200_000 == 11,
        "verified_email_key": key if dice.randrange(10) else "",
        "created_at": created_at,
    }
    return user, account


_END = BEGINNING + SPAN


def copy(model: type[models.Model], rows: Iterable[Values]) -> None:
    """Insert rows, each given by its values that are not defaults."""
    fields = [field for field in model._meta.concrete_fields if not field.generated]
    names = ", ".join(connection.ops.quote_name(field.column) for field in fields)
    defaults = model()
    whole = {field.attname: getattr(defaults, field.attname) for field in fields}
    table = connection.ops.quote_name(model._meta.db_table)
    with connection.cursor() as cursor, cursor.copy(f"COPY {table} ({names}) FROM STDIN") as into:
        for row in rows:
            into.write_row(tuple({**whole, **row}.values()))


@contextmanager
def _without_indexes() -> Iterator[None]:
    """Drop all indexes of the accounts but the primary key: building them later is faster."""
    meta = Account._meta
    with connection.schema_editor() as editor:
        for index in meta.indexes:
            editor.remove_index(Account, index)
        for constraint in meta.constraints:
            editor.remove_constraint(Account, constraint)
    yield
    with connection.schema_editor() as editor:
        for constraint in meta.constraints:
            editor.add_constraint(Account, constraint)
        for index in meta.indexes:
            editor.add_index(Account, index)


def _restart(model: type[models.Model]) -> None:
    """Make the keys of later users start after these."""
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), [model]):
            cursor.execute(statement)
