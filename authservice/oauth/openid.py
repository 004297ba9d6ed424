"""The client of a provider that speaks OpenID Connect: any of them by its issuer alone, and the
base of the named ones.

Used as it is for a provider whose settings have an `ISSUER`: endpoints and keys are discovered
(OpenID Connect Discovery 1.0), and the ID token of each login is verified.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar, Literal
from urllib.parse import urlsplit

from jwt import PyJWK

from authservice.kernel.outbound.errors import OutboundError
from authservice.kernel.outbound.transport import revealed
from authservice.kernel.phrases import phrase
from authservice.kernel.secret import Secret
from authservice.oauth import claims as read
from authservice.oauth import id_tokens, keys
from authservice.oauth.cached_document import CachedDocument
from authservice.oauth.id_tokens import Claims, Expected, InvalidIDToken
from authservice.oauth.oauth2 import OAuth2Provider, logger
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

_NATIVE_AGE = timedelta(minutes=10)


@dataclass(frozen=True, kw_only=True)
class OpenIDSettings(ProviderSettings):
    """The keys that OpenID Connect providers have beside."""

    issuer: str = ""
    """Issuer identifier, exactly as in the provider's metadata."""
    jwks_url: str = ""
    """Replaces the address of the provider's keys."""
    client_auth: Literal["", "basic", "post"] = ""
    """How the client authenticates: `"basic"` (HTTP Basic), `"post"` (in the form), or as the
    provider's metadata say if empty."""


@dataclass(frozen=True, kw_only=True)
class GenericSettings(OpenIDSettings):
    required: ClassVar[tuple[str, ...]] = ("issuer", "client_id")

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if not self.client_secret and not self.pkce:
            yield "['PKCE'] must not be False for a client without a CLIENT_SECRET."


class OpenIDProvider(OAuth2Provider):
    """A provider with an issuer. A subclass that sets all endpoints is never discovered."""

    Settings: ClassVar[type[ProviderSettings]] = GenericSettings

    issuer = ""
    jwks_endpoint = ""
    scopes: tuple[str, ...] = ("openid", "email", "profile")
    id_tokens = True

    def __init__(self, name: str, settings: Any) -> None:
        super().__init__(name, settings)
        self.issuer = settings.issuer or self.issuer
        self._metadata = CachedDocument(
            f"{self.issuer.rstrip('/')}/.well-known/openid-configuration",
            service=name,
            accepts=self._is_metadata,
        )
        self._keys: CachedDocument | None = None

    # Rules that a named provider may replace

    def is_issuer(self, claims: Claims) -> bool:
        """Whether the issuer of an ID token is the provider's."""
        return bool(claims["iss"] == self.issuer)

    def is_response_issuer(self, issuer: str) -> bool:
        """The same for the `iss` of a callback."""
        return self.is_issuer({"iss": issuer})

    def profile_of(self, data: Mapping[str, Any]) -> Profile:
        """The profile in the claims (OpenID Connect Core 1.0 section 5.1)."""
        return Profile(
            subject=read.subject(data.get("sub")),
            email=read.text(data.get("email")),
            email_verified=self.is_email_verified(data),
            name=read.text(data.get("name")),
            first_name=read.text(data.get("given_name")),
            last_name=read.text(data.get("family_name")),
            avatar=read.url(data.get("picture")),
        )

    def is_email_verified(self, data: Mapping[str, Any]) -> bool:
        return data.get("email_verified") is True

    # Endpoints

    def authorization_base(self) -> str:
        return super().authorization_base() or self.discovered("authorization_endpoint")

    def token_url(self) -> str:
        return super().token_url() or self.discovered("token_endpoint")

    def userinfo_url(self) -> str:
        known = super().userinfo_url()
        if known or not self.discovers:
            return known
        return read.text(self.metadata().get("userinfo_endpoint"))

    def jwks_url(self) -> str:
        return self.settings.jwks_url or self.jwks_endpoint or self.discovered("jwks_uri")

    def uses_basic(self) -> bool:
        if self.settings.client_auth or not self.discovers:
            return bool(self.settings.client_auth == "basic")
        methods = self.metadata().get("token_endpoint_auth_methods_supported")
        return not isinstance(methods, list) or "client_secret_basic" in methods

    @property
    def discovers(self) -> bool:
        """Whether the endpoints are those of the provider's metadata."""
        return not (self.token_endpoint or self.settings.token_url)

    def metadata(self) -> Mapping[str, Any]:
        """The provider's metadata. Raises `ProviderError`."""
        try:
            found: Mapping[str, Any] = self._metadata.get()
        except OutboundError:
            raise ProviderError("The metadata of the provider cannot be read.") from None
        return found

    def _is_metadata(self, document: Any) -> bool:
        # Otherwise the keys of another issuer would be accepted for this one.
        if read.mapping(document).get("issuer") == self.issuer:
            return True
        logger.warning("%s: the metadata are not those of ISSUER", self.name)
        return False

    def discovered(self, name: str) -> str:
        address = read.text(self.metadata().get(name))
        if not _is_endpoint(address):
            raise ProviderError("The metadata of the provider are incomplete.")
        return address

    # What the flow calls

    def authorization_parameters(self, flow: Flow) -> dict[str, str]:
        return {**super().authorization_parameters(flow), "nonce": flow.nonce.reveal()}

    def complete(self, parameters: Parameters, flow: Flow) -> ProviderResult:
        self.check_response_issuer(parameters)
        return super().complete(parameters, flow)

    def check_response_issuer(self, parameters: Parameters) -> None:
        """Refuse the response of another issuer (RFC 9207). Raises `ProviderError`."""
        given = revealed(parameters.get("iss", ""))
        if not given and self.discovers:
            promised = self.metadata().get("authorization_response_iss_parameter_supported")
            if promised is True:
                raise ProviderError("The response names no issuer.")
        if given and not self.is_response_issuer(given):
            raise ProviderError("The response is that of another issuer.")

    def verify_id_token(
        self, id_token: Secret, nonce: Secret, audiences: Collection[str]
    ) -> Profile:
        expected = Expected(
            is_issuer=self.is_issuer, audiences=audiences, nonce=nonce, max_age=_NATIVE_AGE
        )
        return self.profile_of(self.verified(id_token, expected))

    # The parts of these

    def read_profile(self, tokens: ProviderTokens, nonce: Secret | None) -> Profile:
        claims = self.claims_of(tokens, nonce)
        address = "" if "email" in claims else self.userinfo_url()
        if not address:
            return self.profile_of(claims)
        more = self.fetch(address, tokens.access_token)
        # OpenID Connect Core 1.0 section 5.3.2: otherwise the access token of another user
        # could have been substituted.
        if more.get("sub") != claims["sub"]:
            raise UserInfoFailed(phrase("The profile is that of another user."))
        # The ID token has no address here, so its flag does not describe the one of `more`.
        return self.profile_of({**more, **claims, "email_verified": more.get("email_verified")})

    def claims_of(self, tokens: ProviderTokens, nonce: Secret | None) -> Claims:
        """The claims of the ID token beside an access token. Raises `TokenExchangeFailed`."""
        if tokens.id_token is None:
            raise TokenExchangeFailed(phrase("The token endpoint sent no ID token."))
        expected = Expected(
            is_issuer=self.is_issuer,
            audiences=(self.client_id,),
            nonce=nonce,
            access_token=tokens.access_token,
        )
        return self.verified(tokens.id_token, expected)

    def verified(self, id_token: Secret, expected: Expected) -> Claims:
        """The claims of an ID token. Raises `TokenExchangeFailed`."""
        try:
            return id_tokens.verify(id_token, self._key_for(id_token), expected)
        except InvalidIDToken as reason:
            logger.warning("%s: ID token refused: %s", self.name, reason)
            raise TokenExchangeFailed(phrase("The ID token is not acceptable.")) from None
        except OutboundError:
            raise TokenExchangeFailed(phrase("The keys of the provider cannot be read.")) from None

    def _key_for(self, id_token: Secret) -> PyJWK:
        header = id_tokens.header_of(id_token)
        if self._keys is None:
            self._keys = CachedDocument(self.jwks_url(), service=self.name, accepts=keys.is_key_set)
        # An unknown key id means that the provider has changed its keys.
        key = keys.find_key(self._keys.get(), header)
        key = key or keys.find_key(self._keys.get_newer(), header)
        if key is None:
            raise InvalidIDToken("no key")
        return key


def _is_endpoint(address: str) -> bool:
    # The browser is sent to one of them. A fragment would receive the parameters of a request
    # (RFC 6749 section 3.1), and what urlsplit() drops would reach the browser.
    if not (address.isascii() and address.isprintable()) or " " in address or "#" in address:
        return False
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in ("https", "http") and bool(parts.hostname) and parts.username is None
