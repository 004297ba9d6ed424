"""Trades a refresh token of simplejwt for a session of this service, once, or blocks it.

The signature alone is not enough: an attacker who has learned the key, often `SECRET_KEY`, can sign
any token. simplejwt's table of outstanding tokens, which only the project can write, must also list
the token for its user. The row in simplejwt's block list is inserted in the transaction that starts
the session, and the unique key of that row decides: of any number of concurrent requests, exactly
one inserts it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from rest_framework_simplejwt.exceptions import TokenError
from rest_framework_simplejwt.settings import api_settings
from rest_framework_simplejwt.token_blacklist.models import BlacklistedToken, OutstandingToken
from rest_framework_simplejwt.tokens import Token
from rest_framework_simplejwt.utils import get_md5_hash_password

from authservice.core.login import foreign_tokens
from authservice.core.sessions import rotation
from authservice.core.sessions.sessions import Tokens
from authservice.core.users import lookup
from authservice.core.users.person import Person
from authservice.kernel import clock, databases, errors, events, throttling
from authservice.kernel.client import Client
from authservice.kernel.interfaces import ForeignTokens
from authservice.kernel.secret import Secret
from authservice.kernel.settings import section

_BATCH = 1000
# Older releases of PyJWT, among them 2.13, also raise exceptions that are not their own: for claims
# of a wrong type and for JSON that is nested too deeply.
_UNREADABLE = (TokenError, OverflowError, RecursionError, TypeError, ValueError)


@dataclass(frozen=True, kw_only=True)
class SimpleJwt:
    """`AUTHSERVICE["SIMPLEJWT"]`. Refresh tokens of simplejwt are traded if both times are set."""

    trade_issued_before: datetime | None = None
    """Only tokens that simplejwt issued before this time are traded: the time at which the project
    stopped issuing them."""
    trade_until: datetime | None = None
    """No token is traded after this time. `REFRESH_TOKEN_LIFETIME` of simplejwt after
    `TRADE_ISSUED_BEFORE`, all of them have expired."""
    trade_cookie: str = ""
    """Name of the cookie in which the old package keeps its refresh token, such as
    `REST_AUTH["JWT_AUTH_REFRESH_COOKIE"]`. Read by `POST /refresh` without a token in the body, if
    `COOKIES.ENABLED` is on."""


conf = section("SIMPLEJWT", SimpleJwt)


class _RefreshToken(Token):
    """A refresh token that simplejwt issued, by the settings `SIMPLE_JWT`. simplejwt's own class
    refuses a blocked token, but here a blocked token must be recognised as a replay."""

    token_type = "refresh"  # noqa: S105 no secret
    lifetime = timedelta(0)  # none is issued


class SimpleJwtTokens(ForeignTokens):
    """Fills the slot `foreign_tokens`."""

    @property
    def cookie(self) -> str:
        return conf.trade_cookie

    def trade(self, text: Secret, client: Client) -> Tokens:
        """Raises `InvalidRefreshToken`, `TooManyRequests`, or the errors of the login policy."""
        claims = _read(text)
        row = _listed(claims)
        session_id = _session_id(row)
        # Shortly after the trade, a replay gets tokens of the session. Later `replayed` ends the
        # session and raises.
        if blocked().filter(token=row).exists():
            return rotation.replayed(session_id, client)
        throttling.count("refresh", str(session_id))
        # Tokens are traded for a limited time, and only those that were issued before it began.
        issued_before, until, now = conf.trade_issued_before, conf.trade_until, clock.timestamp()
        if issued_before is None or until is None or now >= until.timestamp():
            raise errors.InvalidRefreshToken
        issued_at = float(claims["iat"])
        if row.created_at is not None:
            issued_at = max(issued_at, _aware(row.created_at).timestamp())
        if issued_at >= issued_before.timestamp():
            raise errors.InvalidRefreshToken

        def use(person: Person) -> bool:
            """Called in the transaction of the new session; False if the token was used before."""
            if not _accepts(person, claims):
                raise errors.InvalidRefreshToken
            return _block(row)

        began = datetime.fromtimestamp(min(claims["iat"], now), UTC)
        if not settings.USE_TZ:
            began = timezone.make_naive(began)
        issued = foreign_tokens.continue_session(
            row.user_id, client, session_id=session_id, began=began, use=use
        )
        return issued or rotation.replayed(session_id, client)

    def exist(self, person: Person) -> bool:
        if not is_installed():
            return False
        now = as_simplejwt_stores(clock.now())
        rows = outstanding().filter(blacklistedtoken=None, expires_at__gt=now)
        return rows.filter(user=person.user.pk).exists()

    def revoke(self, users: Collection[Any] | None, before: datetime | None) -> None:
        """Block the tokens of users who lose all sessions of this service.

        Somebody who resets a stolen password, or enables a second factor, ends every session. The
        attacker must not keep a token that the old package, or a trade, still accepts.
        """
        if not is_installed():
            return
        # Skip expired tokens: they are refused in any case, and simplejwt's command deletes their
        # rows.
        now = as_simplejwt_stores(clock.now())
        rows = outstanding().filter(blacklistedtoken=None, expires_at__gt=now)
        if users is not None:
            rows = rows.filter(user__in=users)
        if before is not None:
            rows = rows.filter(created_at__lt=as_simplejwt_stores(before))
        pks = rows.order_by("pk").values_list("pk", flat=True)
        last = 0
        while batch := list(pks.filter(pk__gt=last)[:_BATCH]):
            rows_of_batch = [BlacklistedToken(token_id=pk) for pk in batch]
            # Another request may have blocked or traded one in the meantime.
            blocked().bulk_create(rows_of_batch, ignore_conflicts=True)
            last = batch[-1]


tokens = SimpleJwtTokens()


def block(text: Secret, client: Client) -> None:
    """Log out with a token of simplejwt: it can be neither used nor traded any more.

    Raises `InvalidRefreshToken`, also if the token was blocked before. If it was traded before,
    this is a replay.
    """
    claims = _read(text)
    row = _listed(claims)
    with transaction.atomic(using=databases.primary()):
        if _block(row):
            events.record("auth.logout", lookup.find_by_pk(row.user_id), client)
            return
    # The owner logs out with a token that a thief has traded, or the other way round. Unless the
    # trade was a moment ago, `replayed` ends the session, in a transaction of its own, and raises.
    rotation.replayed(_session_id(row), client)
    raise errors.InvalidRefreshToken


def outstanding() -> QuerySet[Any]:
    """The tokens that simplejwt issued."""
    rows: QuerySet[Any] = cast(Any, OutstandingToken).objects
    return rows.using(databases.primary())


def blocked() -> QuerySet[Any]:
    """simplejwt's block list."""
    rows: QuerySet[Any] = cast(Any, BlacklistedToken).objects
    return rows.using(databases.primary())


def is_installed() -> bool:
    """Whether simplejwt's block list is installed; otherwise its models are abstract."""
    return not OutstandingToken._meta.abstract


def _read(text: Secret) -> Mapping[str, Any]:
    """The claims of a token that simplejwt signed and that has not expired. Raises
    `InvalidRefreshToken`."""
    try:
        claims: Mapping[str, Any] = _RefreshToken(cast(Any, text.reveal())).payload
    except _UNREADABLE as error:
        raise errors.InvalidRefreshToken from error
    usable = isinstance(claims.get(api_settings.JTI_CLAIM), str)
    if not usable or type(claims.get("iat")) is not int:  # `true` is an int for `isinstance`
        raise errors.InvalidRefreshToken
    return claims


def _listed(claims: Mapping[str, Any]) -> Any:
    """The row of the token in the table of outstanding tokens. Raises `InvalidRefreshToken`."""
    if not is_installed():
        raise errors.InvalidRefreshToken
    # The expiry of the row counts too: an attacker with the key can sign another expiry.
    now = as_simplejwt_stores(clock.now())
    unexpired = outstanding().filter(jti=claims[api_settings.JTI_CLAIM], expires_at__gt=now)
    row = unexpired.exclude(user=None).first()
    if row is None:
        raise errors.InvalidRefreshToken
    return row


def _session_id(listed: Any) -> UUID:
    """The id of the session that a token is traded for, so that a replay finds the session without
    a table of trades. It sorts by the time of the row, which never changes, and ends in 62 bits of
    a digest. The id may be known: a refresh token of ours also needs a MAC."""
    issued = _aware(listed.created_at or listed.expires_at)
    digest = hashlib.sha256(listed.jti.encode()).digest()
    return UUID(int=clock.least_uuid7(issued).int | int.from_bytes(digest[:8], "big") >> 2)


def _accepts(person: Person, claims: Mapping[str, Any]) -> bool:
    """Whether the token is one of this user, by simplejwt's own settings."""
    user = person.user
    user_id = str(getattr(user, api_settings.USER_ID_FIELD))
    if str(claims.get(api_settings.USER_ID_CLAIM)) != user_id:
        return False
    if api_settings.CHECK_REVOKE_TOKEN:
        claimed_digest = str(claims.get(api_settings.REVOKE_TOKEN_CLAIM, ""))
        if not constant_time_compare(claimed_digest, get_md5_hash_password(user.password)):
            return False
    return bool(api_settings.USER_AUTHENTICATION_RULE(user))


def _block(listed: Any) -> bool:
    """Insert the row of the block list; False if there is one already."""
    using = databases.primary()
    try:
        with transaction.atomic(using=using):
            blocked().create(token=listed)
    except IntegrityError:
        return False
    return True


def _aware(stored: datetime) -> datetime:
    # Without `USE_TZ` simplejwt stores UTC.
    return stored.replace(tzinfo=UTC) if timezone.is_naive(stored) else stored


def as_simplejwt_stores(moment: datetime) -> datetime:
    if settings.USE_TZ or timezone.is_aware(moment):
        return moment
    return timezone.make_aware(moment).astimezone(UTC).replace(tzinfo=None)
