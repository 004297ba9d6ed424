"""Public: the tokens of providers, for host projects that call the provider for a user.

    from authservice.oauth.tokens import access_token

    token = access_token(request.user, "github").reveal()

Tokens are stored only with `OAUTH.STORE_PROVIDER_TOKENS`. An expired one is refreshed by one of any
number of concurrent callers; the others wait for it. Many providers accept a refresh token only
once, so two refreshes at once would end the access.
"""

from __future__ import annotations

import time
from datetime import timedelta
from functools import partial
from typing import Any

from django.db import IntegrityError, transaction

from authservice.core.models import OneTimeToken
from authservice.kernel import clock, crypto, databases
from authservice.kernel.retries import retry_on_deadlock
from authservice.kernel.secret import Secret
from authservice.oauth import registry, sealing, storage
from authservice.oauth.provider import ProviderError, ProviderTokens
from authservice.oauth.storage import Link

_PURPOSE = "oauth-refresh"
_EARLY = timedelta(seconds=60)  # refreshed before it expires, so that the caller can still use it
_LEASE = timedelta(seconds=30)  # longer than a call to a provider may take
_PAUSE = 0.05  # seconds between two looks of a waiting caller


class NoProviderToken(Exception):
    """There is no usable token: none is stored, or it has expired and cannot be refreshed. The
    user has to log in with the provider again."""


def access_token(user: Any, provider: str) -> Secret:
    """A valid access token of the user (a row of the host's user model) at the provider.

    Must not be called within a transaction: it may call the provider. Raises `NoProviderToken`.
    """
    ends = time.monotonic() + _LEASE.total_seconds()
    while True:
        with clock.unit():  # each look is one, since time passes between them
            link, tokens = _stored(user, provider)
            if not _is_expired(tokens):
                return tokens.access_token
            lease = retry_on_deadlock(partial(_claim, link))
            if lease is not None:
                return _refresh(link, tokens, lease)
        if time.monotonic() >= ends:
            raise NoProviderToken("Another refresh has not finished in time.")
        time.sleep(_PAUSE)


def _stored(user: Any, provider: str) -> tuple[Link, ProviderTokens]:
    links = storage.links().of_user(user.pk)
    link = next((one for one in links if one.provider == provider), None)
    tokens = sealing.unseal(link) if link else None
    if link is None or tokens is None:
        raise NoProviderToken("No token of this provider is stored for the user.")
    return link, tokens


def _is_expired(tokens: ProviderTokens) -> bool:
    return tokens.expires_at is not None and tokens.expires_at <= clock.now() + _EARLY


def _claim(link: Link) -> OneTimeToken | None:
    """The right to refresh these tokens, None if another caller has it. The unique digest of a row
    decides; the row expires, since a process may end during a refresh.

    Raises `NoProviderToken` if the other caller failed.
    """
    now = clock.now()
    row = OneTimeToken(
        purpose=_PURPOSE,
        digest=crypto.digest(_PURPOSE, link.sealed_tokens),
        created_at=now,
        expires_at=now + _LEASE,
    )
    using = databases.primary()
    try:
        with transaction.atomic(using=using):
            row.save(using=using, force_insert=True)
        return row
    except IntegrityError:
        return _taken_over(row)


def _taken_over(row: OneTimeToken) -> OneTimeToken | None:
    now = clock.now()
    rows = OneTimeToken.objects.filter(purpose=_PURPOSE, digest=row.digest)
    if rows.filter(expires_at__lte=now).update(expires_at=now + _LEASE, spent_at=None):
        return rows.first()
    if rows.exclude(spent_at=None).exists():
        raise NoProviderToken("The provider refused to refresh the token.")
    return None


def _refresh(link: Link, tokens: ProviderTokens, lease: OneTimeToken) -> Secret:
    provider = registry.get(link.provider)
    if provider is None or not tokens.refresh_token:
        raise _failed(lease)
    try:
        renewed = provider.refresh(tokens.refresh_token)
    except ProviderError:
        raise _failed(lease) from None
    sealing.store(link, renewed)
    return renewed.access_token


def _failed(lease: OneTimeToken) -> NoProviderToken:
    """Tell waiting callers; until the lease expires, no other one asks the provider again."""
    OneTimeToken.objects.filter(pk=lease.pk).update(spent_at=clock.now())
    return NoProviderToken("The token has expired and cannot be refreshed.")
