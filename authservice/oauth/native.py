"""Native apps: the provider's SDK logs the user in, and the app sends us what it received.

Either an ID token with a nonce of ours, or a code with its verifier (RFC 7636). A nonce is a
one-time token, so each ID token works once: an app that received an ID token of a user cannot use
it here without a nonce that was issued before, and a stolen one is useless after its first use.
"""

from __future__ import annotations

from datetime import timedelta

from authservice.core.credentials import one_time
from authservice.core.models import OneTimeToken
from authservice.core.users.person import Person
from authservice.kernel import clock, crypto
from authservice.kernel.client import Client
from authservice.kernel.errors import invalid
from authservice.kernel.phrases import phrase
from authservice.kernel.secret import Secret
from authservice.oauth import errors, flow, sign_in
from authservice.oauth.provider import Profile, Provider
from authservice.oauth.sign_in import SignedIn

NONCE_TTL = timedelta(minutes=10)
_PURPOSE = "oauth-nonce"


def issue_nonce(provider: Provider) -> Secret:
    """A nonce to request an ID token with. Raises `ValidationFailed` if the provider has none."""
    _require_id_tokens(provider)
    nonce, now = one_time.new_token(), clock.now()
    OneTimeToken.objects.create(
        purpose=_PURPOSE,
        digest=crypto.digest(_PURPOSE, nonce.reveal()),
        payload={"provider": provider.name},
        created_at=now,
        expires_at=now + NONCE_TTL,
    )
    return nonce


def with_id_token(
    provider: Provider, id_token: Secret, nonce: Secret, client: Client, *, caller: Person | None
) -> SignedIn:
    """Log in with an ID token whose nonce is ours. Raises `InvalidState`, `StateExpired`,
    `StateUsed`, `TokenExchangeRefused`, and as `sign_in` does."""
    _require_id_tokens(provider)
    _consume(provider, nonce)
    profile = _verified(provider, id_token, nonce)
    return sign_in.sign_in(provider.name, profile, None, client, caller=caller)


def with_code(
    provider: Provider,
    code: Secret,
    code_verifier: Secret,
    redirect_uri: str,
    client: Client,
    *,
    caller: Person | None,
) -> SignedIn:
    """Log in with a code of the provider. Raises `ValidationFailed` without a verifier or for a
    redirect address that is not in `NATIVE_REDIRECT_URIS`, `TokenExchangeRefused`, and as `sign_in`
    does."""
    if not code_verifier:
        # Some providers then exchange a code that was stolen on its way to the app (RFC 7636).
        raise invalid("code_verifier", phrase("This field is required."))
    if redirect_uri not in provider.native_redirect_uris:
        rule = phrase("Must be one of NATIVE_REDIRECT_URIS of the provider.")
        raise invalid("redirect_uri", rule)
    with flow.translated(provider):
        result = provider.exchange_native(code, code_verifier, redirect_uri)
    return sign_in.sign_in(provider.name, result.profile, result.tokens, client, caller=caller)


def _verified(provider: Provider, id_token: Secret, nonce: Secret) -> Profile:
    audiences = [provider.client_id, *provider.native_client_ids]
    with flow.translated(provider):
        return provider.verify_id_token(id_token, nonce, audiences)


def _require_id_tokens(provider: Provider) -> None:
    if not provider.id_tokens:
        raise invalid("id_token", phrase("This provider issues no ID tokens. Send a code."))


def _consume(provider: Provider, nonce: Secret) -> None:
    digests = crypto.digests(_PURPOSE, nonce.reveal())
    row = OneTimeToken.objects.filter(purpose=_PURPOSE, digest__in=digests).first()
    if row is None or row.payload["provider"] != provider.name:
        raise errors.InvalidState
    if row.expires_at <= clock.now():
        raise errors.StateExpired
    if not one_time.consume(row):
        raise errors.StateUsed
