"""Trades a refresh token of simplejwt for a session here, once.

The signature alone is not enough: an attacker who has learned the key, often `SECRET_KEY`, can sign
any token. simplejwt's table of outstanding tokens must list it for its user, which only the project
can have written. The row of its block list is inserted in the transaction that starts the session,
and its unique key decides: of any number of concurrent requests exactly one inserts it.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
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
from rest_framework_simplejwt.utils import aware_utcnow, get_md5_hash_password

from authservice.compat.simplejwt.conf import conf
from authservice.core.login import foreign_tokens
from authservice.core.sessions import rotation
from authservice.core.sessions.sessions import Tokens
from authservice.core.users import lookup
from authservice.core.users.person import Person
from authservice.kernel import databases, errors, events, throttling
from authservice.kernel.client import Client
from authservice.kernel.secret import Secret
from authservice.kernel.uuid7 import least


class _RefreshToken(Token):
    """A refresh token that simplejwt issued, by the settings `SIMPLE_JWT`. simplejwt's own class
    refuses a blocked one, and a replay must be recognised."""

    token_type = "refresh"  # noqa: S105 no secret
    lifetime = timedelta(0)  # none is issued


class Trade:
    """Fills the slot `refresh_token_trade`."""

    @property
    def cookie(self) -> str:
        return conf.trade_cookie

    def __call__(self, text: Secret, client: Client) -> Tokens:
        """Raises `InvalidRefreshToken`, `TooManyRequests`, or the errors of the login policy."""
        claims = _read(text)
        listed = _listed(claims)
        session_id = _session_id(listed)
        if _is_blocked(listed):
            return rotation.replayed(session_id, client)
        throttling.count("refresh", str(session_id))
        if not _in_time(claims, listed):
            raise errors.InvalidRefreshToken

        def use(person: Person) -> bool:
            if not _accepts(person, claims):
                raise errors.InvalidRefreshToken
            return _block(listed)

        issued = foreign_tokens.continue_session(
            listed.user_id, client, session_id=session_id, began=_began(claims), use=use
        )
        return issued or rotation.replayed(session_id, client)


trade = Trade()


def block(text: Secret, client: Client) -> None:
    """Log out with a token of simplejwt: it can be neither used nor traded any more.

    Raises `InvalidRefreshToken`, also if it was blocked before. If it was traded, that is a replay.
    """
    claims = _read(text)
    listed = _listed(claims)
    with transaction.atomic(using=databases.primary()):
        if _block(listed):
            events.record("auth.logout", lookup.find_by_pk(listed.user_id), client)
            return
    # The owner logs out with a token that a thief has traded, or the other way round. The session
    # ends in a transaction of its own, although this request is refused.
    rotation.replayed(_session_id(listed), client)
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
    except TokenError as wrong:
        raise errors.InvalidRefreshToken from wrong
    usable = isinstance(claims.get(api_settings.JTI_CLAIM), str)
    if not usable or not isinstance(claims.get("iat"), int):
        raise errors.InvalidRefreshToken
    return claims


def _listed(claims: Mapping[str, Any]) -> Any:
    """The row of the token in the table of outstanding tokens. Raises `InvalidRefreshToken`."""
    if not is_installed():
        raise errors.InvalidRefreshToken
    # The expiry of the row, too: an attacker with the key can sign another one.
    alive = outstanding().filter(jti=claims[api_settings.JTI_CLAIM], expires_at__gt=aware_utcnow())
    found = alive.exclude(user=None).first()
    if found is None:
        raise errors.InvalidRefreshToken
    return found


def _session_id(listed: Any) -> UUID:
    """The id of the session that a token is traded for, so that a replay finds the session without
    a table of trades. It sorts by the time of the row, which never changes, and ends in 62 bits of
    a digest. It is no secret: a refresh token contains a MAC too."""
    issued = _aware(listed.created_at or listed.expires_at)
    digest = hashlib.sha256(listed.jti.encode()).digest()
    return UUID(int=least(issued).int | int.from_bytes(digest[:8], "big") >> 2)


def _is_blocked(listed: Any) -> bool:
    return bool(blocked().filter(token=listed).exists())


def _in_time(claims: Mapping[str, Any], listed: Any) -> bool:
    """Whether tokens are traded now, and those issued when this one was."""
    issued_before, until = conf.trade_issued_before, conf.trade_until
    if issued_before is None or until is None or time.time() >= until.timestamp():
        return False
    issued = [float(claims["iat"])]
    if listed.created_at is not None:
        issued.append(_aware(listed.created_at).timestamp())
    return max(issued) < issued_before.timestamp()


def _accepts(person: Person, claims: Mapping[str, Any]) -> bool:
    """Whether the token is one of this user, by simplejwt's own settings."""
    user = person.user
    named = str(getattr(user, api_settings.USER_ID_FIELD))
    if str(claims.get(api_settings.USER_ID_CLAIM)) != named:
        return False
    if api_settings.CHECK_REVOKE_TOKEN:
        kept = str(claims.get(api_settings.REVOKE_TOKEN_CLAIM, ""))
        if not constant_time_compare(kept, get_md5_hash_password(user.password)):
            return False
    return bool(api_settings.USER_AUTHENTICATION_RULE(user))


def _block(listed: Any) -> bool:
    """Insert the row of the block list; False if there is one."""
    using = databases.primary()
    try:
        with transaction.atomic(using=using):
            blocked().create(token=listed)
    except IntegrityError:
        return False
    return True


def _began(claims: Mapping[str, Any]) -> datetime:
    moment = datetime.fromtimestamp(min(claims["iat"], time.time()), UTC)
    return moment if settings.USE_TZ else timezone.make_naive(moment)


def _aware(stored: datetime) -> datetime:
    # Without `USE_TZ` simplejwt stores UTC.
    return stored.replace(tzinfo=UTC) if timezone.is_naive(stored) else stored
