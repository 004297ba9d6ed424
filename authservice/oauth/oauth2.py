"""The client of a provider that speaks OAuth 2.0 (RFC 6749), with Proof Key for Code Exchange (RFC
7636) by S256 alone: "plain" shows the verifier.

A provider is a subclass: its endpoints, scopes and parameters as attributes, and `read_profile`
with its rules. `docs/oauth_providers.rst` shows how to write one.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, ClassVar
from urllib.parse import urlencode

from authservice.kernel import clock
from authservice.kernel.languages import phrase
from authservice.kernel.outbound import OutboundError, http_client
from authservice.kernel.outbound.http_client import Basic, Response
from authservice.kernel.outbound.transport import revealed
from authservice.kernel.secret import Secret, b64
from authservice.oauth import claims as read
from authservice.oauth.provider import (
    Flow,
    Parameters,
    Profile,
    ProviderError,
    ProviderResult,
    ProviderTokens,
    TokenExchangeFailed,
    UserInfoFailed,
)
from authservice.oauth.provider_settings import ProviderSettings

logger = logging.getLogger("authservice.oauth")
# The errors of a token endpoint (RFC 6749 section 5.2). Nothing else of its answer is logged.
_ERRORS = frozenset(
    {
        "invalid_client",
        "invalid_grant",
        "invalid_request",
        "invalid_scope",
        "unauthorized_client",
        "unsupported_grant_type",
    }
)
# The longest life of a token, in seconds; the expiry of a longer one counts as unknown.
_MAX_LIFE = timedelta(days=3650).total_seconds()


def pkce_challenge(verifier: Secret) -> dict[str, str]:
    """The parameters of the authorization request for this verifier."""
    digest = hashlib.sha256(verifier.reveal().encode("ascii")).digest()
    return {"code_challenge": b64(digest), "code_challenge_method": "S256"}


class OAuth2Provider:
    """Implements `authservice.oauth.provider.Provider`."""

    Settings: ClassVar[type[ProviderSettings]] = ProviderSettings

    authorization_endpoint = ""
    token_endpoint = ""
    userinfo_endpoint = ""
    scopes: tuple[str, ...] = ()
    """Scopes to request unless `SCOPES` is set."""
    parameters: Mapping[str, str] = {}
    """Further parameters of the authorization request."""
    supports_pkce = True
    form_post = False
    """Whether the provider posts a form to the callback instead of redirecting to it."""
    id_tokens = False
    """Whether the provider issues ID tokens, which native apps can send to log in."""

    def __init__(self, name: str, settings: Any) -> None:
        self.name = name
        self.settings = settings
        self.enabled: bool = settings.enabled
        self.client_id: str = settings.client_id
        self.redirect_url: str = settings.redirect_url
        self.pkce: bool = settings.pkce and self.supports_pkce
        self.native_client_ids: Collection[str] = settings.native_client_ids
        self.native_redirect_uris: Collection[str] = settings.native_redirect_uris

    # What a provider defines

    def read_profile(self, tokens: ProviderTokens, nonce: Secret | None) -> Profile:
        """Who the user is; by default read from the user info endpoint by `profile_of`."""
        return self.profile_of(self.fetch(self.userinfo_url(), tokens.access_token))

    def profile_of(self, data: Mapping[str, Any]) -> Profile:
        """The profile in the answer of the user info endpoint. Its values may have any type: read
        them with the functions of `authservice.oauth.claims`."""
        raise NotImplementedError

    def client_secret(self) -> Secret:
        secret: Secret = self.settings.client_secret
        return secret

    def authorization_parameters(self, flow: Flow) -> dict[str, str]:
        """The parameters of the authorization request."""
        parameters = {
            **self.parameters,
            **self.settings.authorization_parameters,
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": flow.redirect_uri,
            "scope": " ".join(self.requested_scopes()),
            "state": flow.state.reveal(),
        }
        return {**parameters, **pkce_challenge(flow.code_verifier)} if self.pkce else parameters

    def requested_scopes(self) -> tuple[str, ...]:
        return read.scopes(self.settings.scopes) or self.scopes

    def authorization_base(self) -> str:
        return self.settings.authorization_url or self.authorization_endpoint

    def token_url(self) -> str:
        return self.settings.token_url or self.token_endpoint

    def userinfo_url(self) -> str:
        return self.settings.userinfo_url or self.userinfo_endpoint

    def uses_basic(self) -> bool:
        """Whether the client authenticates by HTTP Basic instead of parameters."""
        return False

    # What the flow calls. `clock.once`: all times that are read within one call are the same.

    @clock.once
    def authorization_url(self, flow: Flow) -> str:
        base = self.authorization_base()
        separator = "&" if "?" in base else "?"
        return f"{base}{separator}{urlencode(self.authorization_parameters(flow))}"

    @clock.once
    def complete(self, parameters: Parameters, flow: Flow) -> ProviderResult:
        if parameters.get("error"):
            raise ProviderError("The provider answered with an error.")
        form: dict[str, str | Secret] = {
            "code": Secret(revealed(parameters.get("code", ""))),
            "redirect_uri": flow.redirect_uri,
        }
        if not form["code"]:
            raise ProviderError("The provider sent no code.")
        if self.pkce:
            form["code_verifier"] = flow.code_verifier
        return self.result(self.request_tokens("authorization_code", form), flow.nonce)

    @clock.once
    def exchange_native(
        self, code: Secret, code_verifier: Secret, redirect_uri: str
    ) -> ProviderResult:
        # A provider that ignores the verifier would exchange a code that somebody stole.
        if not self.pkce:
            raise ProviderError("The provider does not verify codes of native apps.")
        form: dict[str, str | Secret] = {
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": code_verifier,
        }
        return self.result(self.request_tokens("authorization_code", form), None)

    @clock.once
    def refresh(self, refresh_token: Secret) -> ProviderTokens:
        return self.request_tokens("refresh_token", {"refresh_token": refresh_token})

    def verify_id_token(
        self, id_token: Secret, nonce: Secret, audiences: Collection[str]
    ) -> Profile:
        raise ProviderError("The provider issues no ID tokens.")

    # Used by the methods above

    def result(self, tokens: ProviderTokens, nonce: Secret | None) -> ProviderResult:
        return ProviderResult(profile=self.read_profile(tokens, nonce), tokens=tokens)

    def request_tokens(self, grant: str, form: Mapping[str, str | Secret]) -> ProviderTokens:
        """Ask the token endpoint. Raises `TokenExchangeFailed`."""
        secret, basic = self.client_secret(), None
        fields: dict[str, str | Secret] = {"grant_type": grant, **form}
        if secret and self.uses_basic():
            basic = Basic(client_id=self.client_id, client_secret=secret)
        else:
            fields["client_id"] = self.client_id
            if secret:
                fields["client_secret"] = secret
        try:
            response = http_client.post_form(
                self.token_url(), fields, service=self.name, basic=basic
            )
            tokens = _tokens(response)
        except OutboundError:
            raise TokenExchangeFailed(phrase("The token endpoint cannot be used.")) from None
        if tokens is None:
            raise self._refusal(response)
        return tokens

    def fetch(self, url: str, access_token: Secret) -> Mapping[str, Any]:
        """The JSON object at `url`. Raises `UserInfoFailed`."""
        profile = self.fetch_any(url, access_token)
        if not isinstance(profile, Mapping):
            raise UserInfoFailed(phrase("The provider sent no profile."))
        return profile

    def fetch_any(self, url: str, access_token: Secret) -> Any:
        """The JSON value at `url`. Raises `UserInfoFailed`."""
        with self.reading():
            return self.request(url, access_token).json()

    def request(self, url: str, access_token: Secret) -> Response:
        """The response at `url`. Raises `OutboundError`."""
        response = http_client.get(url, service=self.name, bearer=access_token)
        response.raise_for_status()
        return response

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Within this context, an `OutboundError` becomes `UserInfoFailed`."""
        try:
            yield
        except OutboundError as error:
            logger.warning("%s: no user info (%s)", self.name, type(error).__name__)
            raise UserInfoFailed(phrase("The provider did not send the profile.")) from None

    def _refusal(self, response: Response) -> TokenExchangeFailed:
        error = _member(response, "error")
        logged = error if isinstance(error, str) and error in _ERRORS else "no known error"
        logger.warning("%s: the token endpoint answered %d, %s", self.name, response.status, logged)
        return TokenExchangeFailed(phrase("The token endpoint refused."))


def _tokens(response: Response) -> ProviderTokens | None:
    # Some providers answer an error with status 200. The text of a token is in no local variable,
    # because error reports show those.
    access = _token_or_none(_member(response, "access_token"))
    kind = _member(response, "token_type")
    if response.status != 200 or not access or str(kind or "bearer").lower() != "bearer":
        return None
    return ProviderTokens(
        access_token=access,
        refresh_token=_token_or_none(_member(response, "refresh_token")),
        id_token=_token_or_none(_member(response, "id_token")),
        expires_at=_expiry(_member(response, "expires_in")),
    )


def _member(response: Response, name: str) -> Any:
    content = response.json()
    return content.get(name) if isinstance(content, Mapping) else None


def _token_or_none(value: Any) -> Secret | None:
    """The token; None for everything but printable ASCII text, so also for a missing one."""
    printable = isinstance(value, str) and value.isascii() and value.isprintable()
    return Secret(value) if printable and value else None


def _expiry(seconds: Any) -> datetime | None:
    if isinstance(seconds, str) and seconds.isdecimal() and len(seconds) < 12:
        seconds = int(seconds)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    if not 0 < seconds <= _MAX_LIFE:
        return None
    return clock.now() + timedelta(seconds=seconds)
