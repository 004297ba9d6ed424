"""The client of a provider that speaks OpenID Connect: any of them by its issuer alone, and the
base of the named ones.

Used as it is for a provider whose settings have an `ISSUER`: endpoints and public keys (JWK set,
RFC 7517) are discovered (OpenID Connect Discovery 1.0), and the ID token of each login is verified.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar, Literal
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from authservice.kernel import clock
from authservice.kernel.outbound.errors import OutboundError
from authservice.kernel.outbound.http_client import Response
from authservice.kernel.outbound.transport import revealed
from authservice.kernel.phrases import phrase
from authservice.kernel.secret import Secret
from authservice.oauth import claims as read
from authservice.oauth import id_tokens
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

# Asymmetric algorithms alone, by type of key and curve: with HMAC the public key would be the
# secret, and "none" signs nothing.
_ALGORITHMS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("RSA", ""): ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    ("EC", "P-256"): ("ES256",),
    ("EC", "P-384"): ("ES384",),
    ("EC", "P-521"): ("ES512",),
    # Two names of one algorithm (RFC 9864).
    ("OKP", "Ed25519"): ("EdDSA", "Ed25519"),
}
_SAME = {"Ed25519": "EdDSA"}
_MIN_RSA_BITS = 2048
_NATIVE_AGE = timedelta(minutes=10)


def find_key(jwks: Any, header: Mapping[str, Any]) -> PyJWK | None:
    """The one key of the set for a token with this header, None if there is not exactly one. A
    token without `kid` is accepted if a single key fits its algorithm."""
    fitting = [key for key in _keys(jwks) if _fits(key, header)]
    if len(fitting) != 1:
        return None
    return _usable(fitting[0], header["alg"])


def is_key_set(document: Any) -> bool:
    """Whether a document is a JWK set; one without keys is too, since a provider may withdraw
    them."""
    keys = document.get("keys") if isinstance(document, dict) else None
    return isinstance(keys, list) and (not keys or bool(_keys(document)))


def _keys(jwks: Any) -> list[dict[str, Any]]:
    keys = jwks.get("keys") if isinstance(jwks, dict) else None
    return [key for key in keys if isinstance(key, dict)] if isinstance(keys, list) else []


def _fits(key: dict[str, Any], header: Mapping[str, Any]) -> bool:
    alg, kid = header.get("alg"), header.get("kid")
    kind = (str(key.get("kty")), "" if key.get("kty") == "RSA" else str(key.get("crv")))
    return (
        alg in _ALGORITHMS.get(kind, ())
        and _plain(key.get("alg", alg)) == _plain(alg)
        and key.get("use", "sig") == "sig"
        and (kid is None or key.get("kid") == kid)
    )


def _plain(alg: Any) -> Any:
    return _SAME.get(alg, alg) if isinstance(alg, str) else alg


def _usable(key: dict[str, Any], alg: str) -> PyJWK | None:
    try:
        found = PyJWK({**key, "alg": _plain(alg)})
        # PyJWT compares it with the header of the token.
        found.algorithm_name = alg
    except (PyJWTError, ValueError, TypeError, KeyError):
        return None
    if isinstance(found.key, RSAPublicKey) and found.key.key_size < _MIN_RSA_BITS:
        return None
    return found


@dataclass(frozen=True, kw_only=True)
class OpenIDSettings(ProviderSettings):
    """The keys that OpenID Connect providers have beside."""

    issuer: str = ""
    """Issuer identifier, exactly as in the provider's metadata."""
    jwks_url: str = ""
    """Replaces the address of the provider's keys."""
    email_claim: str = "email"
    """The claim with the e-mail address. The flag `email_verified` describes `email` alone, so the
    address of another claim counts as unverified unless both are the same."""
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
        if settings.issuer and settings.issuer != self.issuer:
            # Another server than the provider's own, such as a stand-in for it: the endpoints are
            # those of its metadata.
            self.issuer = settings.issuer
            self.authorization_endpoint = self.token_endpoint = ""
            self.userinfo_endpoint = self.jwks_endpoint = ""
        self._metadata = CachedDocument(
            f"{self.issuer.rstrip('/')}/.well-known/openid-configuration",
            service=name,
            accepts=self._is_metadata,
        )
        self._keys: tuple[str, CachedDocument] | None = None

    # Rules that a named provider may replace

    def is_issuer(self, claims: Claims) -> bool:
        """Whether the issuer of an ID token is the provider's."""
        return bool(claims["iss"] == self.issuer)

    def is_response_issuer(self, issuer: str) -> bool:
        """The same for the `iss` of a callback."""
        return self.is_issuer({"iss": issuer})

    def profile_of(self, data: Mapping[str, Any]) -> Profile:
        """The profile in the claims (OpenID Connect Core 1.0 section 5.1)."""
        email = read.address(data.get(self.email_claim))
        return Profile(
            subject=read.subject(data.get("sub")),
            email=email,
            email_verified=bool(email) and self.is_email_verified(data, email),
            name=read.text(data.get("name")),
            first_name=read.text(data.get("given_name")),
            last_name=read.text(data.get("family_name")),
            avatar=read.url(data.get("picture")),
        )

    def is_email_verified(self, data: Mapping[str, Any], email: str) -> bool:
        """Whether the flag says so of this address: it describes the claim `email` alone."""
        described, verified = read.verified_address(data.get("email"), data.get("email_verified"))
        return verified and described == email

    @property
    def email_claim(self) -> str:
        return str(self.settings.email_claim)

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

    @clock.once
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

    @clock.once
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
        known = read.present(claims)
        address = "" if self.email_claim in known else self.userinfo_url()
        if not address:
            return self.profile_of(known)
        more = read.present(self.fetch_claims(address, tokens.access_token))
        # OpenID Connect Core 1.0 section 5.3.2: otherwise the access token of another user
        # could have been substituted.
        if read.subject(more.get("sub")) != read.subject(claims["sub"]):
            raise UserInfoFailed(phrase("The profile is that of another user."))
        # A flag describes the address beside it, not that of the other document.
        described = known if "email" in known else more
        flag = described.get("email_verified")
        return self.profile_of({**more, **known, "email_verified": flag})

    def fetch_claims(self, url: str, access_token: Secret) -> Mapping[str, Any]:
        """The claims at the user info endpoint, which are JSON or a signed JWT (OpenID Connect
        Core 1.0 section 5.3.2). Raises `UserInfoFailed`."""
        with self.reading():
            response = self.request(url, access_token)
            kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            found = response.json() if kind != "application/jwt" else self._signed(response)
        if not isinstance(found, Mapping):
            raise UserInfoFailed(phrase("The provider sent no profile."))
        return found

    def _signed(self, response: Response) -> Claims:
        signed = Secret(response.body.decode("ascii", "replace").strip())
        try:
            key = self._key_for(signed)
            return id_tokens.verify_userinfo(signed, key, self.is_issuer, self.client_id)
        except InvalidIDToken as reason:
            logger.warning("%s: user info refused: %s", self.name, reason)
            raise UserInfoFailed(phrase("The provider sent no profile.")) from None

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
        published = self._published_keys()
        # An unknown key id means that the provider has changed its keys.
        key = find_key(published.get(), header)
        key = key or find_key(published.get_newer(), header)
        if key is None:
            raise InvalidIDToken("no key")
        return key

    def _published_keys(self) -> CachedDocument:
        """The keys at the `jwks_uri` of the current metadata. If it has changed, the keys at the
        former address must not verify tokens: another server may own that address now."""
        url, kept = self.jwks_url(), self._keys
        if kept is None or kept[0] != url:
            document = CachedDocument(url, service=self.name, accepts=is_key_set)
            self._keys = kept = (url, document)
        return kept[1]


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
