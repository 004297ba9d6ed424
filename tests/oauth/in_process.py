"""An identity provider in this process, as a host project adds one from outside the package.

It checks the code, the verifier and the redirect address as a real one does, and that it is never
called within a transaction.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.db import connections
from django.utils import timezone

from authservice.kernel.secret import Secret, b64
from authservice.oauth.provider import (
    Flow,
    Profile,
    ProviderError,
    ProviderResult,
    ProviderTokens,
    TokenExchangeFailed,
    UserInfoFailed,
)
from authservice.oauth.provider_settings import ProviderSettings
from tests.oauth.servers import parameters_of

CONSENT = "https://acme.example/authorize"
SETTINGS = {
    "CLASS": "tests.oauth.in_process.InProcess",
    "CLIENT_ID": "our-client",
    "CLIENT_SECRET": "our-secret",
}


@dataclass(frozen=True)
class Settings(ProviderSettings):
    """`AUTHSERVICE["OAUTH"]["PROVIDERS"][name]` of this provider."""

    form_post: bool = False
    """Whether the callback is a form."""


@dataclass(frozen=True)
class Grant:
    """A code that was issued to a client."""

    profile: Profile
    challenge: str
    redirect_uri: str


class Office:
    """What the provider knows, shared by all providers of a test."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.grants: dict[str, Grant] = {}
        self.id_tokens: dict[str, tuple[Profile, str, str]] = {}
        self.refreshes: list[str] = []
        self.lifetime: timedelta | None = timedelta(hours=1)
        self.failing: type[ProviderError] | None = None
        self.issued: set[str] = set()

    def approve(self, authorization_url: str, profile: Profile) -> str:
        """The user approves: the address that the browser is redirected to."""
        asked = parameters_of(authorization_url)
        code = self.secret()
        self.issued |= {asked["state"], asked["nonce"]}
        self.grants[code] = Grant(profile, asked["code_challenge"], asked["redirect_uri"])
        return f"{asked['redirect_uri']}?{urlencode({'state': asked['state'], 'code': code})}"

    def id_token(self, profile: Profile, nonce: str, audience: str = "our-client") -> str:
        token = self.secret()
        self.id_tokens[token] = (profile, nonce, audience)
        return token

    def native_code(self, profile: Profile, verifier: str, redirect_uri: str) -> str:
        code = self.secret()
        self.grants[code] = Grant(profile, challenge(verifier), redirect_uri)
        return code

    def secret(self) -> str:
        """A new code or token, kept among `issued`."""
        issued = secrets.token_urlsafe(8)
        self.issued.add(issued)
        return issued


office = Office()


def challenge(verifier: str) -> str:
    return b64(hashlib.sha256(verifier.encode()).digest())


class InProcess:
    Settings = Settings
    pkce = True
    id_tokens = True

    def __init__(self, name: str, settings: Settings) -> None:
        self.name, self._settings = name, settings
        self.enabled = settings.enabled
        self.client_id = settings.client_id
        self.redirect_url = settings.redirect_url
        self.form_post = settings.form_post
        self.native_client_ids: Collection[str] = settings.native_client_ids
        self.native_redirect_uris: Collection[str] = settings.native_redirect_uris

    def authorization_url(self, flow: Flow) -> str:
        _called()
        asked = {
            "state": flow.state.reveal(),
            "nonce": flow.nonce.reveal(),
            "code_challenge": challenge(flow.code_verifier.reveal()),
            "redirect_uri": flow.redirect_uri,
        }
        return f"{CONSENT}?{urlencode(asked)}"

    def complete(self, parameters: Mapping[str, str], flow: Flow) -> ProviderResult:
        _called()
        if "error" in parameters:
            raise ProviderError("The provider refused.")
        code = parameters.get("code", "")
        return _exchange(code, flow.code_verifier, flow.redirect_uri)

    def refresh(self, refresh_token: Secret) -> ProviderTokens:
        _called()
        if refresh_token.reveal() in office.refreshes:
            raise TokenExchangeFailed("The refresh token was used.")
        office.refreshes.append(refresh_token.reveal())
        return _tokens()

    def verify_id_token(
        self, id_token: Secret, nonce: Secret, audiences: Collection[str]
    ) -> Profile:
        _called()
        profile, asked, audience = office.id_tokens.get(id_token.reveal(), (None, "", ""))
        if profile is None or asked != nonce.reveal() or audience not in audiences:
            raise TokenExchangeFailed("The ID token is not acceptable.")
        return profile

    def exchange_native(
        self, code: Secret, code_verifier: Secret, redirect_uri: str
    ) -> ProviderResult:
        _called()
        return _exchange(code.reveal(), code_verifier, redirect_uri)


def _exchange(code: str, verifier: Secret, redirect_uri: str) -> ProviderResult:
    grant = office.grants.pop(code, None)
    if grant is None:
        raise TokenExchangeFailed("The code is unknown or used.")
    if (challenge(verifier.reveal()), redirect_uri) != (grant.challenge, grant.redirect_uri):
        raise TokenExchangeFailed("The verifier or the redirect address is wrong.")
    if not grant.profile.subject:
        raise UserInfoFailed("There is no subject.")
    return ProviderResult(profile=grant.profile, tokens=_tokens())


def _tokens() -> ProviderTokens:
    expires: datetime | None = office.lifetime and timezone.now() + office.lifetime
    return ProviderTokens(
        access_token=Secret(f"access-{office.secret()}"),
        refresh_token=Secret(f"refresh-{office.secret()}"),
        expires_at=expires,
    )


def _called() -> None:
    if office.failing:
        raise office.failing("The provider is out of order.")
    for connection in connections.all(initialized_only=True):
        blocks: list[Any] = connection.atomic_blocks
        assert all(block._from_testcase for block in blocks), "called within a transaction"
