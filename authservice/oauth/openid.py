"""The client of providers that speak OpenID Connect. `OpenIDProvider` can use any of them by its
issuer alone, and is the base class of the named ones.

With an `ISSUER` in the settings, endpoints and public keys (JWK set, RFC 7517) are discovered
(OpenID Connect Discovery 1.0). The ID token of each login is verified. The metadata and the key set
are cached in the process, see `CachedDocument`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar, Literal
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from authservice.kernel import clock
from authservice.kernel.languages import phrase
from authservice.kernel.outbound import OutboundError, http_client
from authservice.kernel.outbound.http_client import Response
from authservice.kernel.outbound.transport import revealed
from authservice.kernel.secret import Secret
from authservice.oauth import claims as read
from authservice.oauth import id_tokens
from authservice.oauth.id_tokens import Claims, Expected, InvalidIDToken
from authservice.oauth.oauth2 import OAuth2Provider, logger
from authservice.oauth.provider import (
    Flow,
    Parameters,
    Profile,
    ProviderError,
    ProviderResult,
    ProviderTokens,
    ProviderUnreachable,
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
_CANONICAL = {"Ed25519": "EdDSA"}
METADATA_PATH = "/.well-known/openid-configuration"  # OpenID Connect Discovery 1.0 section 4
_MIN_RSA_BITS = 2048
_NATIVE_AGE = timedelta(minutes=10)  # of an ID token that a native app sends
_DOCUMENT_LIFE = timedelta(hours=1)
# How long a document may be used without another successful request: a provider may have withdrawn
# a key, and an attacker who has it may keep us from the provider.
_DOCUMENT_LONGEST = timedelta(hours=24)
# A forged token with an unknown key id must not cause a request each time, and neither must each
# login while the provider is unavailable.
_DOCUMENT_PAUSE = timedelta(minutes=1)


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
    """A provider with an issuer. Nothing is discovered for a subclass that sets its endpoints,
    unless the setting `ISSUER` names another server."""

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
            f"{self.issuer.rstrip('/')}{METADATA_PATH}",
            service=name,
            accepts=self._is_metadata,
        )
        self._keys: tuple[str, CachedDocument] | None = None

    # Rules that a named provider may replace

    def is_issuer(self, claims: Claims) -> bool:
        """Whether the `iss` of an ID token is the provider's issuer."""
        return bool(claims["iss"] == self.issuer)

    def is_response_issuer(self, issuer: str) -> bool:
        """Whether the `iss` of a callback is the provider's issuer."""
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
        """Whether `email_verified` is about this address: it describes the claim `email` alone."""
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
        configured = super().userinfo_url()
        if configured or not self.discovers:
            return configured
        # Optional, unlike the endpoints for which `discovered` is called.
        return read.text(self.metadata().get("userinfo_endpoint"))

    def jwks_url(self) -> str:
        return self.settings.jwks_url or self.jwks_endpoint or self.discovered("jwks_uri")

    def uses_basic(self) -> bool:
        if self.settings.client_auth or not self.discovers:
            return bool(self.settings.client_auth == "basic")
        # HTTP Basic is the default (OpenID Connect Discovery 1.0 section 3).
        methods = self.metadata().get("token_endpoint_auth_methods_supported")
        return not isinstance(methods, list) or "client_secret_basic" in methods

    @property
    def discovers(self) -> bool:
        """Whether the endpoints are those of the provider's metadata."""
        return not (self.token_endpoint or self.settings.token_url)

    def metadata(self) -> Mapping[str, Any]:
        """The provider's metadata. Raises `ProviderUnreachable`."""
        try:
            document: Mapping[str, Any] = self._metadata.get()
        except OutboundError:
            raise ProviderUnreachable("The metadata of the provider cannot be read.") from None
        return document

    def _is_metadata(self, document: Any) -> bool:
        # With the metadata of another issuer, its keys would be accepted for this one.
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
        issuer = revealed(parameters.get("iss", ""))
        if not issuer and self.discovers:
            promised = self.metadata().get("authorization_response_iss_parameter_supported")
            if promised is True:
                raise ProviderError("The response names no issuer.")
        if issuer and not self.is_response_issuer(issuer):
            raise ProviderError("The response is that of another issuer.")

    @clock.once
    def verify_id_token(
        self, id_token: Secret, nonce: Secret, audiences: Collection[str]
    ) -> Profile:
        expected = Expected(
            is_issuer=self.is_issuer, audiences=audiences, nonce=nonce, max_age=_NATIVE_AGE
        )
        return self.profile_of(self.verified(id_token, expected))

    # Used by the methods above

    def read_profile(self, tokens: ProviderTokens, nonce: Secret | None) -> Profile:
        claims = self.claims_of(tokens, nonce)
        token_claims = read.present(claims)
        # The user info endpoint is asked only if the ID token has no address.
        url = "" if self.email_claim in token_claims else self.userinfo_url()
        if not url:
            return self.profile_of(token_claims)
        userinfo = read.present(self.fetch_claims(url, tokens.access_token))
        # OpenID Connect Core 1.0 section 5.3.2: otherwise the access token of another user
        # could have been substituted.
        if read.subject(userinfo.get("sub")) != read.subject(claims["sub"]):
            raise UserInfoFailed(phrase("The profile is that of another user."))
        # `email_verified` describes the address in its own document, not that in the other one.
        source = token_claims if "email" in token_claims else userinfo
        flag = source.get("email_verified")
        return self.profile_of({**userinfo, **token_claims, "email_verified": flag})

    def fetch_claims(self, url: str, access_token: Secret) -> Mapping[str, Any]:
        """The claims at the user info endpoint, which are JSON or a signed JWT (OpenID Connect
        Core 1.0 section 5.3.2). Raises `UserInfoFailed`."""
        with self.reading():
            response = self.request(url, access_token)
            kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            claims = response.json() if kind != "application/jwt" else self._signed(response)
        if not isinstance(claims, Mapping):
            raise UserInfoFailed(phrase("The provider sent no profile."))
        return claims

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
        # The keys are those at the `jwks_uri` of the current metadata. If the address has changed,
        # the keys at the former one must not verify tokens: another server may own it now.
        url, cached = self.jwks_url(), self._keys
        if cached is None or cached[0] != url:
            document = CachedDocument(url, service=self.name, accepts=is_key_set)
            self._keys = cached = (url, document)
        key_set = cached[1]
        # An unknown key id means that the provider has changed its keys.
        key = find_key(key_set.get(), header)
        key = key or find_key(key_set.get_newer(), header)
        if key is None:
            raise InvalidIDToken("no key")
        return key


def _is_endpoint(address: str) -> bool:
    # The browser is sent to one of the endpoints. A fragment would receive the parameters of a
    # request (RFC 6749 section 3.1), and what urlsplit() drops would reach the browser.
    if not (address.isascii() and address.isprintable()) or " " in address or "#" in address:
        return False
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in ("https", "http") and bool(parts.hostname) and parts.username is None


class UnexpectedDocument(OutboundError):
    """The response is JSON, but not the document."""


class CachedDocument:
    """A JSON document of a provider that changes rarely (its metadata, its keys), kept in the
    process for an hour. If it cannot be fetched again, or the response does not satisfy `accepts`,
    the old one stays in use for up to 24 hours, and the next attempt is made a minute later.

    There is no lock: while a provider does not answer, threads that wait for a lock could serve no
    other request. The number of requests to a provider is limited instead (`OUTBOUND.IN_FLIGHT`).
    """

    def __init__(self, url: str, *, service: str, accepts: Callable[[Any], bool]) -> None:
        self._url = url
        self._service = service
        self._accepts = accepts
        self._document: Any = None
        self._fetched_at: float | None = None
        self._tried_at: float | None = None

    def get(self) -> Any:
        """The document. Raises `OutboundError` if there is none."""
        if _is_older(self._fetched_at, _DOCUMENT_LIFE) and self._may_try():
            self._renew()
        return self._document

    def get_newer(self) -> Any:
        """The document, fetched again unless it was requested within the last minute."""
        if self._may_try():
            self._renew()
        return self._document

    def _may_try(self) -> bool:
        return self._document is None or _is_older(self._tried_at, _DOCUMENT_PAUSE)

    def _renew(self) -> None:
        now = clock.timestamp()
        try:
            response = http_client.get(self._url, service=self._service)
            response.raise_for_status()
            document = response.json()
            if not self._accepts(document):
                raise UnexpectedDocument("The response is another document.")
            self._document, self._fetched_at = document, now
        except OutboundError:
            if self._document is None or _is_older(self._fetched_at, _DOCUMENT_LONGEST):
                self._document = None
                raise
        finally:
            self._tried_at = now


def _is_older(moment: float | None, age: timedelta) -> bool:
    return moment is None or clock.timestamp() - moment >= age.total_seconds()


def find_key(jwks: Any, header: Mapping[str, Any]) -> PyJWK | None:
    """The one key of the set for a token with this header, None if there is not exactly one. A
    token without `kid` is accepted if a single key fits its algorithm."""
    candidates = [key for key in _keys(jwks) if _fits(key, header)]
    if len(candidates) != 1:
        return None
    alg = header["alg"]
    try:
        # Without "d": PyJWT cannot verify with a private RSA key, which a provider may publish by
        # mistake.
        public = {name: value for name, value in candidates[0].items() if name != "d"}
        key = PyJWK({**public, "alg": _canonical(alg)})
        # PyJWT compares this name with the header of the token.
        key.algorithm_name = alg
    except (PyJWTError, ValueError, TypeError, KeyError):
        return None
    if isinstance(key.key, RSAPublicKey) and key.key.key_size < _MIN_RSA_BITS:
        return None
    return key


def is_key_set(document: Any) -> bool:
    """Whether a document is a JWK set. A set may have no keys, since a provider may withdraw them
    all."""
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
        and _canonical(key.get("alg", alg)) == _canonical(alg)
        and key.get("use", "sig") == "sig"
        and (kid is None or key.get("kid") == kid)
    )


def _canonical(alg: Any) -> Any:
    return _CANONICAL.get(alg, alg) if isinstance(alg, str) else alg
