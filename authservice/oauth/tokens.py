"""Public: the tokens of providers, for host projects that call the provider for a user.

    from authservice.oauth.tokens import access_token

    token = access_token(request.user, "github").reveal()

Public are `access_token` and `NoProviderToken` alone; the rest is how tokens are stored: encrypted
for one account and one provider, and only with `OAUTH.STORE_PROVIDER_TOKENS`.

An expired token is refreshed by one of any number of concurrent callers; the others wait for it.
Many providers accept a refresh token only once, so two refreshes at once would end the access.
"""

from __future__ import annotations

import json
import time
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db import IntegrityError, transaction

from authservice.core.models import OneTimeToken
from authservice.kernel import clock, databases, secret
from authservice.kernel.secret import Secret
from authservice.oauth import provider_settings, storage
from authservice.oauth.provider import ProviderError, ProviderTokens
from authservice.oauth.storage import Link

_SEALING = "oauth-tokens"
_REFRESHING = "oauth-refresh"
_EARLY = timedelta(seconds=60)  # refreshed before it expires, so that the caller can still use it
_LEASE = timedelta(seconds=30)  # longer than a call to a provider may take
_PAUSE = 0.05  # seconds between two attempts of a waiting caller


class NoProviderToken(Exception):
    """There is no usable token: none is stored, or it has expired and cannot be refreshed. The
    user has to log in with the provider again."""


def access_token(user: Any, provider: str) -> Secret:
    """A valid access token of the user (a row of the host's user model) at the provider.

    Must not be called within a transaction: it may call the provider. Raises `NoProviderToken`.
    """
    deadline = time.monotonic() + _LEASE.total_seconds()
    while True:
        with clock.unit():  # each attempt reads the time again
            link, tokens = _stored(user, provider)
            if tokens.expires_at is None or tokens.expires_at > clock.now() + _EARLY:
                return tokens.access_token
            lease = databases.retry_on_deadlock(partial(_claim, link))
            if lease is not None:
                return _refresh(link, tokens, lease)
        if time.monotonic() >= deadline:
            raise NoProviderToken("Another refresh has not finished in time.")
        time.sleep(_PAUSE)


def _stored(user: Any, provider: str) -> tuple[Link, ProviderTokens]:
    links = storage.links().of_user(user.pk)
    link = next((link for link in links if link.provider == provider), None)
    tokens = unseal(link) if link else None
    if link is None or tokens is None:
        raise NoProviderToken("No token of this provider is stored for the user.")
    return link, tokens


def _claim(link: Link) -> OneTimeToken | None:
    """The right to refresh these tokens, None if another caller has it. The unique digest of a row
    decides; the row expires, since a process may end during a refresh.

    Raises `NoProviderToken` if the other caller failed.
    """
    now = clock.now()
    row = OneTimeToken(
        purpose=_REFRESHING,
        digest=secret.digest(_REFRESHING, link.sealed_tokens),
        created_at=now,
        expires_at=now + _LEASE,
    )
    using = databases.primary()
    try:
        with transaction.atomic(using=using):
            row.save(using=using, force_insert=True)
    except IntegrityError:
        rows = OneTimeToken.objects.filter(purpose=_REFRESHING, digest=row.digest)
        # A process that held the lease until it expired has ended: this caller takes the lease
        # over.
        if rows.filter(expires_at__lte=now).update(expires_at=now + _LEASE, spent_at=None):
            return rows.first()
        if rows.exclude(spent_at=None).exists():
            raise NoProviderToken("The provider refused to refresh the token.") from None
        return None
    return row


def _refresh(link: Link, tokens: ProviderTokens, lease: OneTimeToken) -> Secret:
    provider = provider_settings.find_provider(link.provider)
    if provider is None or not tokens.refresh_token:
        raise _failed(lease)
    try:
        renewed = provider.refresh(tokens.refresh_token)
    except ProviderError:
        raise _failed(lease) from None
    databases.retry_on_deadlock(partial(_store_unless_newer, link, renewed))
    return renewed.access_token


def _store_unless_newer(link: Link, tokens: ProviderTokens) -> None:
    """Store the tokens of a refresh, unless a login has stored newer ones meanwhile."""
    with transaction.atomic(using=databases.primary()):
        storage.users().lock(link.user_id)  # as logins do
        present = storage.links().find(link.provider, link.subject)
        if present is not None and present.sealed_tokens == link.sealed_tokens:
            store(link, tokens)


def _failed(lease: OneTimeToken) -> NoProviderToken:
    """Record the failure for waiting callers: until the lease expires, none of them asks the
    provider again."""
    OneTimeToken.objects.filter(pk=lease.pk).update(spent_at=clock.now())
    return NoProviderToken("The token has expired and cannot be refreshed.")


def seal(user_id: str, provider: str, tokens: ProviderTokens | None) -> str:
    """The encrypted tokens, "" without any. A row that is copied to another account or provider
    cannot be read there."""
    if tokens is None:
        return ""
    refresh, expires = tokens.refresh_token, tokens.expires_at
    return secret.seal(
        _SEALING,
        json.dumps(
            {
                "owner": _owner(user_id, provider),
                "access_token": tokens.access_token.reveal(),
                "refresh_token": refresh.reveal() if refresh else "",
                "expires_at": expires.isoformat() if expires else "",
            }
        ),
    )


def unseal(link: Link) -> ProviderTokens | None:
    """The tokens of a link, None if there are none or no configured key can read them."""
    if not link.sealed_tokens:
        return None
    try:
        text = Secret(secret.unseal(_SEALING, link.sealed_tokens))
    except secret.Unreadable:
        return None
    values = {name: Secret(value) for name, value in json.loads(text.reveal()).items()}
    if values["owner"].reveal() != _owner(str(link.user_id), link.provider):
        return None
    expires = values["expires_at"].reveal()
    return ProviderTokens(
        access_token=values["access_token"],
        refresh_token=values["refresh_token"] or None,
        expires_at=datetime.fromisoformat(expires) if expires else None,
    )


def store(link: Link, tokens: ProviderTokens) -> None:
    """Replace the tokens of a link. A refresh token that the provider did not send again stays."""
    if tokens.refresh_token is None:
        before = unseal(link)
        tokens = ProviderTokens(
            access_token=tokens.access_token,
            refresh_token=before.refresh_token if before else None,
            expires_at=tokens.expires_at,
        )
    storage.links().store_tokens(link, seal(str(link.user_id), link.provider, tokens))


def _owner(user_id: str, provider: str) -> str:
    return f"{provider}|{user_id}"
