"""One-time tokens: each link or code is one row with a keyed digest of it.

A token works once, for one purpose, until the address or the password changes. Consuming it is one
conditional UPDATE. An attempt at a code is counted before the code is compared. A temp_token, which
a client sends together with a code, is accepted for five codes.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from math import ceil
from typing import Any

from django.db.models import F, QuerySet

from authservice.core import errors
from authservice.core.credentials import attempt_counter, lockout, passwords
from authservice.core.models import OneTimeToken
from authservice.core.users import lookup
from authservice.core.users import person as people
from authservice.core.users.person import Person
from authservice.kernel import clock, databases, secret
from authservice.kernel.client import Client
from authservice.kernel.errors import TooManyAttempts
from authservice.kernel.secret import Secret
from authservice.kernel.sql import Select, param

_LINK, _CODE = "one-time-link", "one-time-code"
# At most so many valid codes are read for one number, one for each account. The limits on text
# messages allow fewer.
_CODES = 50
# An attempt without an owner is compared with this many of the newest codes. The number is small,
# so that a random code is hardly more likely to match than with a single code.
_COMPARED = 10
Payload = Mapping[str, Any]
_COLUMNS = tuple(field.attname for field in OneTimeToken._meta.concrete_fields)
TRIES = 5  # codes for which a temp_token is accepted


@dataclass(frozen=True)
class Purpose:
    """What a token is for, how long its link and its code are valid, and which changes revoke it.

    `addressed`: a changed address revokes it. `lasting`: a changed password does not revoke it.
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
# The one link a day that is sent beyond the limit, so that attackers cannot lock the owner out.
LASTING_RESET = Purpose(RESET.name, link_ttl=timedelta(hours=24))
# A link to set the first password of an account that staff created.
FIRST_PASSWORD = Purpose(RESET.name, link_ttl=timedelta(days=7))
# "This was not me" in a security notice: an intruder must not be able to revoke it.
SECURE = Purpose("secure-account", link_ttl=timedelta(hours=72), addressed=False, lasting=True)


@clock.once
def issue_link(
    purpose: Purpose, person: Person, target_key: str = "", *, payload: Payload | None = None
) -> Secret:
    """Issue a new 256-bit token, URL-safe, for one address of the user or for none."""
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


@clock.once
def issue_code(purpose: Purpose, person: Person, target_key: str) -> Secret:
    """Issue a new code of six digits for one number of the user; revokes their previous code.

    Other users may have the same number as long as nobody has verified it, and codes of their own.
    """
    _unspent(purpose, target_key).filter(user=person.user.pk).update(spent_at=clock.now())
    code = _new_code()
    lockout.restart_codes(person, target_key, opens_account=purpose.opens_account)
    _store(
        purpose,
        person,
        target_key,
        ttl=purpose.code_ttl,
        code_digest=_code_digest(purpose, target_key, code),
    )
    return code


@databases.inside_transaction
@clock.once
def issue_link_and_code(purpose: Purpose, person: Person, target_key: str) -> tuple[Secret, Secret]:
    """Issue a token and a code in one row, so that using either of them spends both; revokes all
    earlier pairs.

    The caller has locked the user (`passwords.lock_user`). Otherwise two pairs issued at the
    same time would both be valid.
    """
    # Links without a code stay valid: the one that is sent beyond the daily limit, and that of a
    # first password.
    _with_code(purpose, target_key).update(spent_at=clock.now())
    token, code = new_token(), _new_code()
    lockout.restart_codes(person, target_key, opens_account=purpose.opens_account)
    _store(
        purpose,
        person,
        target_key,
        ttl=purpose.link_ttl,
        digest=link_digest(purpose, token),
        code_digest=_code_digest(purpose, target_key, code),
    )
    return token, code


@clock.once
def find_link(purpose: Purpose, token: Secret) -> tuple[Person, OneTimeToken]:
    """The row of a link, spent or not, if its user, address and password are still the same.

    Raises `InvalidLink`, or `LinkExpired` if the link was valid once.
    """
    issued = OneTimeToken.objects.filter(digest__in=_link_digests(token, purpose)).first()
    person = _person(purpose, issued) if issued else None
    if issued is None or person is None:
        raise errors.InvalidLink
    if issued.expires_at <= clock.now():
        raise errors.LinkExpired
    return person, issued


@clock.once
def find_code(
    purpose: Purpose,
    target_key: str,
    code: Secret,
    *,
    client: Client,
    owner: Person | None = None,
) -> tuple[Person, OneTimeToken]:
    """The row of a valid code; the attempt is counted first. A code that opens no account is only
    valid for its `owner`, and other users do not use up its attempts.

    Raises `InvalidVerificationCode` for every reason, `TooManyRequests` for a client that tries
    codes of many targets. Must not be called within a transaction that the refusal would roll back.
    """
    # The row of the owner is chosen here and not by the query, so that the statement is the same
    # whether there is an owner or not.
    rows = _with_code(purpose, target_key).order_by("-created_at", "-id")[:_CODES]
    holder = owner.user.pk if owner else None
    issued = next((row for row in rows if purpose.opens_account or row.user_id == holder), None)
    # The same statements run if there is no code, so that clients cannot learn if there is one.
    person = _person(purpose, issued or OneTimeToken())
    network = lockout.count_network(person, client)
    device = lockout.find_device(client.device, person)
    subject = target_key if purpose.opens_account else lockout.own_target(target_key, owner)
    counter = lockout.by_code(subject, device, opens_account=purpose.opens_account)
    counted = lockout.count_code(counter, opens_account=purpose.opens_account)
    # Always compare, even with an empty digest, so that no case is faster than another.
    stored = issued.code_digest if issued else ""
    right = _matches(purpose, target_key, code, stored)
    if issued is None or person is None or not (counted and right):
        raise errors.InvalidVerificationCode
    if purpose.opens_account:  # for other codes, issuing the next one resets the counter anyway
        attempt_counter.refund(counter)
    lockout.refund_throttle(network)
    return person, issued


@clock.once
def find_code_of_any(
    purpose: Purpose, target_key: str, code: Secret, *, client: Client
) -> tuple[Person, OneTimeToken]:
    """As `find_code`, for a code that opens no account and is valid for the account that it was
    texted for, whichever that is: five attempts after each new code, for all accounts together.

    Nothing depends on the code before the attempt is counted, such as which device is known:
    otherwise a right code could pass the limit that refuses the wrong ones.
    """
    newest = _with_code(purpose, target_key).order_by("-created_at", "-id")[:_COMPARED]
    rows = list(newest) or [OneTimeToken()]
    lockout.count_network(None, client)
    subject = lockout.own_target(target_key, None)
    counter = lockout.by_code(subject, None, opens_account=False)
    counted = lockout.count_code(counter, opens_account=False)
    # Compare the codes of all rows, so that no case is faster than another.
    matching = [row for row in rows if _matches(purpose, target_key, code, row.code_digest)]
    issued = matching[0] if matching else OneTimeToken()
    person = _person(purpose, issued)
    if person is None or not counted:
        raise errors.InvalidVerificationCode
    lockout.refund_throttle(client.network)
    return person, issued


def find_open(
    purpose: Purpose, token: Secret, *extra_columns: str
) -> tuple[Person, OneTimeToken, tuple[Any, ...]]:
    """The unspent row of a token that a client sends together with a code, its user, and the
    `extra_columns`, which are look-ups from the row. All are read in one statement.

    Raises `InvalidLink` for every reason of a refusal: the client needs no details.
    """
    using = databases.primary()
    for digest in _link_digests(token, purpose):
        row = _by_digest(extra_columns).first(using, digest=digest, purpose=purpose.name)
        if row is None:
            continue
        person, rest = people.read(row, using), row[people.width() :]
        issued = OneTimeToken.from_db(using, _COLUMNS, rest[: len(_COLUMNS)])
        fresh = issued.spent_at is None and issued.expires_at > clock.now()
        if fresh and _still_holds(purpose, issued, person):
            return person, issued, rest[len(_COLUMNS) :]
    raise errors.InvalidLink


@cache
def _by_digest(extra_columns: tuple[str, ...]) -> Select:
    def build() -> QuerySet[Any, Any]:
        digest, purpose = param("digest", OneTimeToken), param("purpose", OneTimeToken)
        columns = people.columns(user="user__", account="user__authservice_account__")
        rows = OneTimeToken.objects.filter(digest=digest, purpose=purpose).order_by()
        return rows.values_list(*columns, *_COLUMNS, *extra_columns)

    return Select(build)


def owner_of(token: Secret, *purposes: Purpose) -> Person | None:
    """The user that a token was issued to, even if the token is spent or expired."""
    row = OneTimeToken.objects.filter(digest__in=_link_digests(token, *purposes)).first()
    return lookup.find_by_pk(row.user_id) if row else None


@clock.once
def consume(issued: OneTimeToken, **unchanged: str) -> bool:
    """Spend the token; True if this call did so. The row must still have the values `unchanged`."""
    # `by_now`: the token must not have expired while the request waited for a lock.
    rows = OneTimeToken.objects.filter(pk=issued.pk, spent_at=None, expires_at__gt=clock.by_now())
    return bool(rows.filter(**unchanged).update(spent_at=clock.now()))


@databases.inside_transaction
@clock.once
def consume_for(purpose: Purpose, person: Person, issued: OneTimeToken) -> Person | None:
    """The current user, if the token is still valid for them and this call spent it.

    It locks the user's row, so call it first in the transaction: until its end no other transaction
    changes the user or issues tokens for them.
    """
    passwords.lock_user(person)
    present = lookup.find_by_pk(person.user.pk)
    return present if present and consume_locked(purpose, present, issued) else None


def consume_locked(purpose: Purpose, present: Person, issued: OneTimeToken) -> bool:
    """Whether the token is still valid for this user, whose row is locked, and this call spent
    it."""
    return _still_holds(purpose, issued, present) and consume(issued)


def revoke_all_but_notices(person: Person) -> None:
    """Revoke all open tokens of the user except the links of security notices."""
    rows = OneTimeToken.objects.filter(user=person.user.pk, spent_at=None)
    rows.exclude(purpose=SECURE.name).update(spent_at=clock.now())


def revoke_all(person: Person, *purposes: Purpose) -> None:
    """Revoke all open tokens of the user for these purposes."""
    names = [purpose.name for purpose in purposes]
    rows = OneTimeToken.objects.filter(user=person.user.pk, purpose__in=names, spent_at=None)
    rows.update(spent_at=clock.now())


def revoke_logins(user_id: Any, method: str) -> None:
    """Revoke the tokens of logins that began with this way to sign in and wait for a second
    factor."""
    rows = OneTimeToken.objects.filter(user=user_id, spent_at=None, payload__method=method)
    rows.update(spent_at=clock.now())


@databases.outside_transactions
def count_challenge_attempt(issued: OneTimeToken) -> None:
    """Count one attempt at the code of a temp_token, before the code is compared.

    Raises `TooManyAttempts` if none is left, `InvalidLink` if another request has spent the token
    since it was read.
    """
    rows = OneTimeToken.objects.filter(pk=issued.pk, spent_at=None, attempts__lt=TRIES)
    if rows.update(attempts=F("attempts") + 1):
        return
    if not OneTimeToken.objects.filter(pk=issued.pk, spent_at=None).exists():
        raise errors.InvalidLink
    seconds = max(1, ceil((issued.expires_at - clock.now()).total_seconds()))
    raise TooManyAttempts(headers={"Retry-After": str(seconds)})


def refund_challenge_attempt(issued: OneTimeToken) -> None:
    """Give back an attempt that succeeded."""
    rows = OneTimeToken.objects.filter(pk=issued.pk, attempts__gt=0)
    rows.update(attempts=F("attempts") - 1)


def _store(
    purpose: Purpose, person: Person, target_key: str, *, ttl: timedelta, **fields: Any
) -> None:
    now = clock.now()
    OneTimeToken.objects.create(
        purpose=purpose.name,
        user_id=person.user.pk,
        target_key=target_key,
        password_fingerprint=passwords.fingerprint(person.user.password),
        created_at=now,
        expires_at=now + ttl,
        **fields,
    )


def _person(purpose: Purpose, issued: OneTimeToken) -> Person | None:
    """The user of the token, if the token is still valid for them."""
    person = lookup.find_by_pk(issued.user_id)
    return person if person and _still_holds(purpose, issued, person) else None


def _still_holds(purpose: Purpose, issued: OneTimeToken, person: Person) -> bool:
    """Whether the user is active and has the address and password that the token was issued for."""
    if not person.active:
        return False
    if purpose.addressed and issued.target_key not in (person.email_key, person.phone_key):
        return False
    return purpose.lasting or passwords.matches_fingerprint(
        issued.password_fingerprint, person.user.password
    )


def _unspent(purpose: Purpose, target_key: str) -> QuerySet[OneTimeToken]:
    return OneTimeToken.objects.filter(
        purpose=purpose.name, target_key=target_key, spent_at=None, expires_at__gt=clock.now()
    )


def _with_code(purpose: Purpose, target_key: str) -> QuerySet[OneTimeToken]:
    return _unspent(purpose, target_key).exclude(code_digest="")


def new_token() -> Secret:
    return Secret(secrets.token_urlsafe(32))


def _new_code() -> Secret:
    return Secret(f"{secrets.randbelow(10**6):06d}")


def _link_digests(token: Secret, *purposes: Purpose) -> list[str]:
    """All digests under which a token of these purposes may be stored, one for each key."""
    return [digest for purpose in purposes for digest in name_digests(purpose.name, token)]


def name_digests(name: str, token: Secret) -> list[str]:
    """All digests that a token for a purpose may be stored under, the current one first."""
    return secret.digests(_LINK, f"{name}|{token.reveal()}")


def link_digest(purpose: Purpose, token: Secret) -> str:
    return name_digests(purpose.name, token)[0]


def _code_digest(purpose: Purpose, target_key: str, code: Secret) -> str:
    return secret.digest(_CODE, f"{purpose.name}|{target_key}|{code.reveal()}")


def _matches(purpose: Purpose, target_key: str, code: Secret, digest: str) -> bool:
    # The revealed code is in no variable: reports of errors show the variables of each frame.
    return secret.matches(_CODE, f"{purpose.name}|{target_key}|{code.reveal()}", digest)
