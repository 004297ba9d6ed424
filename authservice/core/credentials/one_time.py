"""One-time tokens: each link or code is one row with a keyed digest of it.

It works once, for one purpose, until the address or the password changes. Consuming it is one
conditional UPDATE; an attempt at a code is counted before it is compared.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from authservice.core.credentials import (
    attempt_counter,
    code_attempts,
    known_devices,
    lockout,
    passwords,
)
from authservice.core.models import OneTimeToken
from authservice.core.users import lookup
from authservice.core.users import person as people
from authservice.core.users.person import Person
from authservice.kernel import crypto, databases, errors
from authservice.kernel.client import Client
from authservice.kernel.secret import Secret
from authservice.kernel.sql import Select, param

_LINK = "ticket-link"
_CODE = "ticket-code"


@dataclass(frozen=True)
class Purpose:
    """What a secret is for, how long its link and its code are valid, and which changes end it.

    `addressed`: a changed address ends it. `lasting`: a changed password does not end it.
    `opens_account`: its codes log in or reset the password, so attempts at them are also limited
    per day.
    """

    name: str
    link_ttl: timedelta = timedelta(0)
    code_ttl: timedelta = timedelta(0)
    addressed: bool = True
    lasting: bool = False
    opens_account: bool = True


VERIFY_EMAIL = Purpose("verify-email", link_ttl=timedelta(hours=24), lasting=True)
VERIFY_PHONE = Purpose("verify-phone", code_ttl=timedelta(minutes=10), opens_account=False)
RESET = Purpose("reset-password", link_ttl=timedelta(hours=1), code_ttl=timedelta(minutes=10))
# The one link a day that is sent past the limit, so that attackers cannot lock the owner out.
LASTING_RESET = Purpose(RESET.name, link_ttl=timedelta(hours=24))
# A first password, for somebody whose account staff made.
FIRST_PASSWORD = Purpose(RESET.name, link_ttl=timedelta(days=7))
# "This was not me" in a security notice: an intruder must not be able to end it.
SECURE = Purpose("secure-account", link_ttl=timedelta(hours=72), addressed=False, lasting=True)

Payload = Mapping[str, Any]
_COLUMNS = tuple(field.attname for field in OneTimeToken._meta.concrete_fields)


@cache
def _by_digest(beside: tuple[str, ...]) -> Select:
    def build() -> QuerySet[Any, Any]:
        digest, purpose = param("digest", OneTimeToken), param("purpose", OneTimeToken)
        columns = people.columns(user="user__", account="user__authservice_account__")
        rows = OneTimeToken.objects.filter(digest=digest, purpose=purpose).order_by()
        return rows.values_list(*columns, *_COLUMNS, *beside)

    return Select(build)


def issue_link(
    purpose: Purpose, person: Person, target_key: str = "", *, payload: Payload | None = None
) -> Secret:
    """A new 256-bit token, URL-safe, for one address of a person or for none."""
    token = new_token()
    _store(
        purpose,
        person,
        target_key,
        ttl=purpose.link_ttl,
        digest=link_digest(purpose, token),
        payload=dict(payload or {}),
    )
    return token


def issue_code(purpose: Purpose, person: Person, target_key: str) -> Secret:
    """A new code of six digits for one number of a person; it ends the one before."""
    _unspent(purpose, target_key).update(spent_at=timezone.now())
    code = _new_code()
    code_attempts.restart(person, target_key, opens_account=purpose.opens_account)
    _store(
        purpose,
        person,
        target_key,
        ttl=purpose.code_ttl,
        code_digest=_code_digest(purpose, target_key, code),
    )
    return code


def issue_link_and_code(purpose: Purpose, person: Person, target_key: str) -> tuple[Secret, Secret]:
    """A new token and a new code in one ticket, so that using either ends both; it ends every pair
    before it.

    In a transaction that holds the person (`passwords.locked`), or of two that are minted at once
    both would live.
    """
    # A link without a code is that of the last mail of a day, which no later request ends.
    _with_code(purpose, target_key).update(spent_at=timezone.now())
    token, code = new_token(), _new_code()
    code_attempts.restart(person, target_key, opens_account=purpose.opens_account)
    _store(
        purpose,
        person,
        target_key,
        ttl=purpose.link_ttl,
        digest=link_digest(purpose, token),
        code_digest=_code_digest(purpose, target_key, code),
    )
    return token, code


def find_link(purpose: Purpose, token: Secret) -> tuple[Person, OneTimeToken]:
    """The ticket of a link, spent or not, whose person, address and password are still the same.

    Raises `InvalidLink`, or `LinkExpired` for one that was good once.
    """
    ticket = _tickets().filter(digest__in=_link_digests(token, purpose)).first()
    person = _person(purpose, ticket) if ticket else None
    if ticket is None or person is None:
        raise errors.InvalidLink
    if ticket.expires_at <= timezone.now():
        raise errors.LinkExpired
    return person, ticket


def find_code(
    purpose: Purpose, target_key: str, code: Secret, *, client: Client
) -> tuple[Person, OneTimeToken]:
    """The live ticket of a code, after counting the try.

    Raises `InvalidVerificationCode` for every reason there may be, `TooManyRequests` for a client
    who guesses at many. Not to be called within a transaction that the refusal would undo.
    """
    ticket = _with_code(purpose, target_key).order_by("-created_at", "-id").first()
    # The same statements where there is no code, so that nobody learns whether there is one.
    person = _person(purpose, ticket or OneTimeToken())
    network = lockout.network_of(person, client)
    lockout.count_throttle(network)
    device = known_devices.known(client.device_token, person)
    counter = code_attempts.counter(target_key, device, opens_account=purpose.opens_account)
    counted = code_attempts.count(counter, opens_account=purpose.opens_account)
    # Compared against something in any case, so that no case is faster than another.
    stored = ticket.code_digest if ticket else ""
    right = crypto.matches(_CODE, f"{purpose.name}|{target_key}|{code.reveal()}", stored)
    if ticket is None or person is None or not (counted and right):
        raise errors.InvalidVerificationCode
    if purpose.opens_account:  # for other codes, issuing the next one resets the counter anyway
        attempt_counter.refund(counter)
    lockout.refund_throttle(network)
    return person, ticket


def find_open(
    purpose: Purpose, token: Secret, *beside: str
) -> tuple[Person, OneTimeToken, tuple[Any, ...]]:
    """The unspent ticket of a token that a code must come with, its person, and more of the
    person's: columns as look-ups from the ticket. One statement.

    Raises `InvalidLink`; what is wrong, or whether it was good once, nobody needs to know.
    """
    using = databases.primary()
    for digest in _link_digests(token, purpose):
        row = _by_digest(beside).first(using, digest=digest, purpose=purpose.name)
        if row is None:
            continue
        person, rest = people.read(row, using), row[people.width() :]
        ticket = OneTimeToken.from_db(using, _COLUMNS, rest[: len(_COLUMNS)])
        fresh = ticket.spent_at is None and ticket.expires_at > timezone.now()
        if fresh and _holds(purpose, ticket, person):
            return person, ticket, rest[len(_COLUMNS) :]
    raise errors.InvalidLink


def owner_of(token: Secret, *purposes: Purpose) -> Person | None:
    """The user whom a token was issued to, even if the token is spent or expired."""
    row = _tickets().filter(digest__in=_link_digests(token, *purposes)).first()
    return lookup.find_by_pk(row.user_id) if row else None


def consume(ticket: OneTimeToken, **unchanged: str) -> bool:
    """Whether it was this call that spent the ticket; `unchanged` must still stand in its row."""
    now = timezone.now()
    rows = _tickets().filter(pk=ticket.pk, spent_at=None, expires_at__gt=now)
    return bool(rows.filter(**unchanged).update(spent_at=now))


def consume_for(purpose: Purpose, person: Person, ticket: OneTimeToken) -> Person | None:
    """The person as they are now, if the ticket still holds for them and this call spent it.

    First thing in a transaction: until its end nobody else changes the person or mints for them.
    """
    passwords.lock_and_read(person)
    present = lookup.find_by_pk(person.user.pk)
    if present and _holds(purpose, ticket, present) and consume(ticket):
        return present
    return None


def revoke_all_but_notices(person: Person) -> None:
    """End every open secret of the person but the links of security notices."""
    rows = _tickets().filter(user=person.user.pk, spent_at=None)
    rows.exclude(purpose=SECURE.name).update(spent_at=timezone.now())


def revoke_all(person: Person, *purposes: Purpose) -> None:
    """End every open secret of these purposes."""
    names = [purpose.name for purpose in purposes]
    rows = _tickets().filter(user=person.user.pk, purpose__in=names, spent_at=None)
    rows.update(spent_at=timezone.now())


def _store(
    purpose: Purpose, person: Person, target_key: str, *, ttl: timedelta, **fields: Any
) -> None:
    now = timezone.now()
    _tickets().create(
        purpose=purpose.name,
        user_id=person.user.pk,
        target_key=target_key,
        password_fingerprint=passwords.fingerprint(person.user.password),
        created_at=now,
        expires_at=now + ttl,
        **fields,
    )


def _person(purpose: Purpose, ticket: OneTimeToken) -> Person | None:
    """Whom the ticket is for, if it still holds."""
    person = lookup.find_by_pk(ticket.user_id)
    return person if person and _holds(purpose, ticket, person) else None


def _holds(purpose: Purpose, ticket: OneTimeToken, person: Person) -> bool:
    """Whether the address and the password that the ticket was made under are still the same."""
    if not person.active:
        return False
    if purpose.addressed and ticket.target_key not in (person.email_key, person.phone_key):
        return False
    return purpose.lasting or passwords.matches_fingerprint(
        ticket.password_fingerprint, person.user.password
    )


def _unspent(purpose: Purpose, target_key: str) -> QuerySet[OneTimeToken]:
    return _tickets().filter(
        purpose=purpose.name, target_key=target_key, spent_at=None, expires_at__gt=timezone.now()
    )


def _with_code(purpose: Purpose, target_key: str) -> QuerySet[OneTimeToken]:
    return _unspent(purpose, target_key).exclude(code_digest="")


def _tickets() -> QuerySet[OneTimeToken]:
    return OneTimeToken.objects.using(databases.primary())


def new_token() -> Secret:
    return Secret(secrets.token_urlsafe(32))


def _new_code() -> Secret:
    return Secret(f"{secrets.randbelow(10**6):06d}")


def _link_digests(token: Secret, *purposes: Purpose) -> list[str]:
    """Every digest under which a token of these purposes may have been stored."""
    texts = [f"{purpose.name}|{token.reveal()}" for purpose in purposes]
    return [digest for text in texts for digest in crypto.digests(_LINK, text)]


def link_digest(purpose: Purpose, token: Secret) -> str:
    return crypto.digest(_LINK, f"{purpose.name}|{token.reveal()}")


def _code_digest(purpose: Purpose, target_key: str, code: Secret) -> str:
    return crypto.digest(_CODE, f"{purpose.name}|{target_key}|{code.reveal()}")
