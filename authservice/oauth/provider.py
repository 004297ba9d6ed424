"""What a provider is: the interface between the flow and the clients of the providers.

A provider never sees a request and never touches the database. Its methods that send requests raise
`ProviderError`, must not be called inside a transaction, and take and return secrets as `Secret`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from authservice.kernel.secret import Secret


@dataclass(frozen=True, kw_only=True)
class Profile:
    """Who signed in, as the provider says. `subject` is never empty and stays the same for this
    user; `email_verified` is true only if the provider has verified that the user owns `email`."""

    subject: str
    email: str = ""
    email_verified: bool = False
    name: str = ""
    first_name: str = ""
    last_name: str = ""
    avatar: str = ""


@dataclass(frozen=True, kw_only=True)
class ProviderTokens:
    """The tokens of the provider. `expires_at` is that of the access token, None if unknown."""

    access_token: Secret
    refresh_token: Secret | None = None
    id_token: Secret | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Flow:
    """One authorization request, from the redirect to the callback. `redirect_uri` is the callback
    address; `code_verifier` is 43 to 128 unreserved characters (RFC 7636 section 4.1)."""

    provider: str
    redirect_uri: str
    state: Secret
    nonce: Secret
    code_verifier: Secret


@dataclass(frozen=True, kw_only=True)
class ProviderResult:
    """The outcome of a code exchange."""

    profile: Profile
    tokens: ProviderTokens


# The parameters of a callback; those that are secrets may be wrapped.
Parameters = Mapping[str, str | Secret]


class ProviderError(Exception):
    """The provider refused, or its response is not acceptable. The text is ours and fixed: it never
    repeats what the provider sent. Log the class name alone."""


class ProviderUnreachable(ProviderError):
    """The metadata of the provider cannot be read."""


class TokenExchangeFailed(ProviderError):
    """The token endpoint did not answer, refused the code, or sent no acceptable ID token."""


class UserInfoFailed(ProviderError):
    """The provider did not say who the user is."""


class Provider(Protocol):
    """A configured provider. `docs/oauth_providers.rst` shows how to add one."""

    name: str
    enabled: bool
    client_id: str
    redirect_url: str
    """Callback address set by `REDIRECT_URL`; empty means that it is made from `API_URL`."""
    form_post: bool
    """Whether the callback is a form sent by POST from the provider's site (Apple)."""
    pkce: bool
    """Whether the code challenge is sent and the verifier presented."""
    id_tokens: bool
    """Whether `verify_id_token` works: the provider issues OpenID Connect ID tokens."""
    native_client_ids: Collection[str]
    """Client ids of native apps, accepted as the audience of their ID tokens beside `client_id`."""
    native_redirect_uris: Collection[str]
    """Redirect addresses with which native apps may exchange a code."""

    def authorization_url(self, flow: Flow) -> str:
        """The address of the consent screen. May send requests (discovery) and raise
        `ProviderError`."""
        ...

    def complete(self, parameters: Parameters, flow: Flow) -> ProviderResult:
        """Exchange the code among the callback's `parameters` and read the profile. The caller has
        checked and consumed the state. An `error` parameter raises `ProviderError`."""
        ...

    def refresh(self, refresh_token: Secret) -> ProviderTokens:
        """New tokens. `refresh_token` of the result is None if the old one stays valid."""
        ...

    def verify_id_token(
        self, id_token: Secret, nonce: Secret, audiences: Collection[str]
    ) -> Profile:
        """The profile in an ID token that a native app sent: signature, issuer, audience (one of
        `audiences`), nonce, expiry and age (`iat` at most 10 minutes old) are checked. The caller
        makes sure that each ID token is used once."""
        ...

    def exchange_native(
        self, code: Secret, code_verifier: Secret, redirect_uri: str
    ) -> ProviderResult:
        """Exchange a code that a native app received. The caller has checked that `redirect_uri` is
        one of `native_redirect_uris`."""
        ...
