"""The tokens of a provider, encrypted for one account and one provider."""

from __future__ import annotations

import json
from datetime import datetime

from authservice.kernel import crypto
from authservice.kernel.secret import Secret
from authservice.oauth import storage
from authservice.oauth.provider import ProviderTokens
from authservice.oauth.storage import Link

_PURPOSE = "oauth-tokens"


def seal(user_id: str, provider: str, tokens: ProviderTokens | None) -> str:
    """The encrypted tokens, "" without any. A row that is copied to another account or provider
    cannot be read there."""
    if tokens is None:
        return ""
    refresh, expires = tokens.refresh_token, tokens.expires_at
    return crypto.seal(
        _PURPOSE,
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
        return _parsed(Secret(crypto.unseal(_PURPOSE, link.sealed_tokens)), link)
    except crypto.Unreadable:
        return None


def store(link: Link, tokens: ProviderTokens) -> None:
    """Replace the tokens of a link. A refresh token that the provider did not send again stays."""
    if tokens.refresh_token is None:
        tokens = _with_refresh_token_of(link, tokens)
    storage.links().store_tokens(link, seal(str(link.user_id), link.provider, tokens))


def _with_refresh_token_of(link: Link, tokens: ProviderTokens) -> ProviderTokens:
    before = unseal(link)
    return ProviderTokens(
        access_token=tokens.access_token,
        refresh_token=before.refresh_token if before else None,
        expires_at=tokens.expires_at,
    )


def _parsed(text: Secret, link: Link) -> ProviderTokens | None:
    values = {name: Secret(value) for name, value in json.loads(text.reveal()).items()}
    if values["owner"].reveal() != _owner(str(link.user_id), link.provider):
        return None
    expires = values["expires_at"].reveal()
    return ProviderTokens(
        access_token=values["access_token"],
        refresh_token=values["refresh_token"] or None,
        expires_at=datetime.fromisoformat(expires) if expires else None,
    )


def _owner(user_id: str, provider: str) -> str:
    return f"{provider}|{user_id}"
