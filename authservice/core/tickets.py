"""One-time secrets: each link and code is one row that holds a keyed digest of it.

A secret is shown once, works once and for one purpose, and dies with the address or the password it
was made under. Spending is one conditional UPDATE; a try at a code is counted before it is judged.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any

from django.db.models import F, QuerySet
from django.utils import timezone

from authservice.core import directory, passwords, people
from authservice.core.models import Ticket
from authservice.core.people import Person
from authservice.kernel import crypto, errors, flood
from authservice.kernel.client import Client
from authservice.kernel.sql import Select, param

TRIES = 5
_LINK = "ticket-link"
_CODE = "ticket-code"


@dataclass(frozen=True)
class Purpose:
    """What a secret is for, how long a link and a code of it live, and what it dies with.

    One that is not `addressed` was sent to no address, so a change of address leaves it alone.
    """

    name: str
    link_ttl: timedelta = timedelta(0)
    code_ttl: timedelta = timedelta(0)
    addressed: bool = True


VERIFY_EMAIL = Purpose("verify-email", link_ttl=timedelta(hours=24))
VERIFY_PHONE = Purpose("verify-phone", code_ttl=timedelta(minutes=10))
# The payload of a link that was mailed to an address nobody has proven yet.
PROVES_EMAIL = {"proves": "email"}

RESET = Purpose("reset-password", link_ttl=timedelta(hours=1), code_ttl=timedelta(minutes=10))
# A first password, for somebody whose account staff made.
FIRST_PASSWORD = Purpose(RESET.name, link_ttl=timedelta(days=7))


_COLUMNS = tuple(field.attname for field in Ticket._meta.concrete_fields)


@cache
def _by_digest(beside: tuple[str, ...]) -> Select:
    def build() -> QuerySet[Any, Any]:
        digest, purpose = param("digest", Ticket), param("purpose", Ticket)
        columns = people.columns(user="user__", account="user__authservice_account__")
        rows = Ticket.objects.filter(digest=digest, purpose=purpose).order_by()
        return rows.values_list(*columns, *_COLUMNS, *beside)

    return Select(build)


def mint_link(
    purpose: Purpose,
    person: Person,
    target_key: str = "",
    *,
    payload: Mapping[str, Any] | None = None,
) -> str:
    """A new 256-bit token, URL-safe, for one address of a person or for none."""
    token = secrets.token_urlsafe(32)
    _store(
        purpose,
        person,
        target_key,
        ttl=purpose.link_ttl,
        digest=_link_digest(purpose, token),
        payload=dict(payload or {}),
    )
    return token


def mint_code(purpose: Purpose, person: Person, target_key: str) -> str:
    """A new code of six digits for one number of a person; it ends the one before."""
    _unspent(purpose, target_key).update(spent_at=timezone.now())
    code = _new_code()
    _store(
        purpose,
        person,
        target_key,
        ttl=purpose.code_ttl,
        code_digest=_code_digest(purpose, target_key, code),
    )
    return code


def mint_pair(purpose: Purpose, person: Person, target_key: str) -> tuple[str, str]:
    """A new token and a new code in one ticket, so that using either ends both; it ends every pair
    before it.

    In a transaction that holds the person (`passwords.locked`), or of two that are minted at once
    both would live.
    """
    _unspent(purpose, target_key).update(spent_at=timezone.now())
    token, code = secrets.token_urlsafe(32), _new_code()
    _store(
        purpose,
        person,
        target_key,
        ttl=purpose.link_ttl,
        digest=_link_digest(purpose, token),
        code_digest=_code_digest(purpose, target_key, code),
    )
    return token, code


def find_link(purpose: Purpose, token: str) -> tuple[Person, Ticket]:
    """The ticket of a link, spent or not, whose person, address and password are still the same.

    Raises `InvalidLink`, or `LinkExpired` for one that was good once.
    """
    digests = crypto.digests(_LINK, f"{purpose.name}|{token}")
    ticket = _tickets().filter(digest__in=digests, purpose=purpose.name).first()
    person = _person(purpose, ticket) if ticket else None
    if ticket is None or person is None:
        raise errors.InvalidLink
    if ticket.expires_at <= timezone.now():
        raise errors.LinkExpired
    return person, ticket


def find_code(
    purpose: Purpose, target_key: str, code: str, *, client: Client
) -> tuple[Person, Ticket]:
    """The live ticket of a code, after counting the try.

    Raises `InvalidVerificationCode` for every reason there may be, `TooManyRequests` for a client
    who guesses at many. Not to be called within a transaction that the refusal would undo.
    """
    # Each code has its tries, but who asks for a thousand codes has a thousand times as many.
    flood.count("guess", client.network)
    ticket = _unspent(purpose, target_key).order_by("-created_at", "-id").first()
    # The same statements where there is no code, so that nobody learns whether there is one.
    person = _person(purpose, ticket or Ticket())
    counted = _count(ticket or Ticket())
    # Compared against something in any case, so that no case is faster than another.
    stored = ticket.code_digest if ticket else ""
    right = crypto.matches(_CODE, f"{purpose.name}|{target_key}|{code}", stored)
    if ticket is None or person is None or not (counted and right):
        raise errors.InvalidVerificationCode
    flood.give_back("guess", client.network)
    return person, ticket


def find_open(purpose: Purpose, token: str, *beside: str) -> tuple[Person, Ticket, tuple[Any, ...]]:
    """The unspent ticket of a token that a code must come with, its person, and more of the
    person's: columns as look-ups from the ticket. One statement.

    Raises `InvalidLink`; what is wrong, or whether it was good once, nobody needs to know.
    """
    using = directory.database()
    for digest in crypto.digests(_LINK, f"{purpose.name}|{token}"):
        row = _by_digest(beside).first(using, digest=digest, purpose=purpose.name)
        if row is None:
            continue
        person, rest = people.read(row, using), row[people.width() :]
        ticket = Ticket.from_db(using, _COLUMNS, rest[: len(_COLUMNS)])
        fresh = ticket.spent_at is None and ticket.expires_at > timezone.now()
        if fresh and _holds(purpose, ticket, person):
            return person, ticket, rest[len(_COLUMNS) :]
    raise errors.InvalidLink


def take_try(ticket: Ticket) -> None:
    """Count one try at the code that goes with a ticket.

    Raises `TooManyAttempts` past the last, `InvalidLink` where another request has spent the ticket
    since it was found. Not to be called within a transaction that a refusal would undo.
    """
    if _count(ticket):
        return
    if not _tickets().filter(pk=ticket.pk, spent_at=None).exists():
        raise errors.InvalidLink
    left = int((ticket.expires_at - timezone.now()).total_seconds())
    raise errors.TooManyAttempts(headers={"Retry-After": str(max(left, 0) + 1)})


def spend(ticket: Ticket, **unchanged: str) -> bool:
    """Whether it was this call that spent the ticket; `unchanged` must still stand in its row."""
    now = timezone.now()
    rows = _tickets().filter(pk=ticket.pk, spent_at=None, expires_at__gt=now)
    return bool(rows.filter(**unchanged).update(spent_at=now))


def redeem(purpose: Purpose, person: Person, ticket: Ticket) -> Person | None:
    """The person as they are now, if the ticket still holds for them and this call spent it.

    First thing in a transaction: until its end nobody else changes the person or mints for them.
    """
    passwords.locked(person)
    present = directory.by_pk(person.user.pk)
    if present and _holds(purpose, ticket, present) and spend(ticket):
        return present
    return None


def end_everything(person: Person) -> None:
    """End every open secret of the person, whatever it is for."""
    _tickets().filter(user=person.user.pk, spent_at=None).update(spent_at=timezone.now())


def end_all(person: Person, *purposes: Purpose) -> None:
    """End every open secret of these purposes."""
    names = [purpose.name for purpose in purposes]
    rows = _tickets().filter(user=person.user.pk, purpose__in=names, spent_at=None)
    rows.update(spent_at=timezone.now())


def _count(ticket: Ticket) -> bool:
    # Counted before compared, so that parallel guesses cannot share one try.
    rows = _tickets().filter(pk=ticket.pk, spent_at=None, attempts__lt=TRIES)
    return bool(rows.update(attempts=F("attempts") + 1))


def give_back(ticket: Ticket) -> None:
    """A try at a code that turned out to be right was no guess."""
    rows = _tickets().filter(pk=ticket.pk, attempts__gt=0)
    rows.update(attempts=F("attempts") - 1)


def _store(
    purpose: Purpose, person: Person, target_key: str, *, ttl: timedelta, **fields: Any
) -> None:
    now = timezone.now()
    _tickets().create(
        purpose=purpose.name,
        user_id=person.user.pk,
        target_key=target_key,
        password_mark=passwords.mark(person.user.password),
        created_at=now,
        expires_at=now + ttl,
        **fields,
    )


def _person(purpose: Purpose, ticket: Ticket) -> Person | None:
    """Whom the ticket is for, if it still holds."""
    person = directory.by_pk(ticket.user_id)
    return person if person and _holds(purpose, ticket, person) else None


def _holds(purpose: Purpose, ticket: Ticket, person: Person) -> bool:
    """Whether the address and the password that the ticket was made under are still the same."""
    if not person.active:
        return False
    if purpose.addressed and ticket.target_key not in (person.email_key, person.phone_key):
        return False
    return passwords.still(ticket.password_mark, person.user.password)


def _unspent(purpose: Purpose, target_key: str) -> QuerySet[Ticket]:
    return _tickets().filter(
        purpose=purpose.name, target_key=target_key, spent_at=None, expires_at__gt=timezone.now()
    )


def _tickets() -> QuerySet[Ticket]:
    return Ticket.objects.using(directory.database())


def _new_code() -> str:
    return f"{secrets.randbelow(10**6):06d}"


def _link_digest(purpose: Purpose, token: str) -> str:
    return crypto.digest(_LINK, f"{purpose.name}|{token}")


def _code_digest(purpose: Purpose, target_key: str, code: str) -> str:
    return crypto.digest(_CODE, f"{purpose.name}|{target_key}|{code}")
