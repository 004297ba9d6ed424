"""Providers that speak OpenID Connect: Google, GitLab, Slack and LinkedIn much as the standard
says, Microsoft and Apple with rules of their own. Each class names the documentation of its
provider."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import jwt
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from authservice.kernel import clock
from authservice.kernel.outbound.transport import revealed
from authservice.kernel.secret import Secret
from authservice.oauth import claims as read
from authservice.oauth.conf import conf
from authservice.oauth.id_tokens import Claims
from authservice.oauth.oauth2 import OAuth2Provider
from authservice.oauth.openid import OpenIDProvider, OpenIDSettings
from authservice.oauth.provider import Flow, Parameters, Profile, ProviderResult, ProviderTokens

_TENANT_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_MICROSOFT_LOGIN = "https://login.microsoftonline.com"
_APPLE_SECRET_LIFE = 300  # seconds


class Google(OpenIDProvider):
    """The subject is `sub`; Google verifies addresses and says so in `email_verified`.

    https://developers.google.com/identity/openid-connect/openid-connect
    """

    Settings = OpenIDSettings
    issuer = "https://accounts.google.com"
    authorization_endpoint = "https://accounts.google.com/o/oauth2/v2/auth"
    token_endpoint = "https://oauth2.googleapis.com/token"  # noqa: S105 an address
    userinfo_endpoint = "https://openidconnect.googleapis.com/v1/userinfo"
    jwks_endpoint = "https://www.googleapis.com/oauth2/v3/certs"

    def authorization_parameters(self, flow: Flow) -> dict[str, str]:
        parameters = super().authorization_parameters(flow)
        # Google issues a refresh token only if it is asked for one and for consent.
        if conf.store_provider_tokens:
            return {"access_type": "offline", "prompt": "consent", **parameters}
        return parameters

    def is_issuer(self, claims: Claims) -> bool:
        # Google documents both forms.
        return claims["iss"] in (self.issuer, self.issuer.removeprefix("https://"))


class GitLab(OpenIDProvider):
    """The subject is the user's id. `ISSUER` is the address of a self-managed instance.

    https://docs.gitlab.com/integration/openid_connect_provider/
    """

    Settings = OpenIDSettings
    issuer = "https://gitlab.com"


class Slack(OpenIDProvider):
    """The subject is workspace and user, since Slack assigns user ids per workspace. Slack offers
    PKCE to public clients alone; the nonce of the ID token binds the response to the flow.

    https://api.slack.com/authentication/sign-in-with-slack
    """

    Settings = OpenIDSettings
    issuer = "https://slack.com"
    authorization_endpoint = "https://slack.com/openid/connect/authorize"
    token_endpoint = "https://slack.com/api/openid.connect.token"  # noqa: S105 an address
    userinfo_endpoint = "https://slack.com/api/openid.connect.userInfo"
    jwks_endpoint = "https://slack.com/openid/connect/keys"
    supports_pkce = False

    def profile_of(self, data: Mapping[str, Any]) -> Profile:
        profile = super().profile_of(data)
        team = read.subject(data.get("https://slack.com/team_id"))
        return dataclasses.replace(profile, subject=f"{team}-{profile.subject}")


class LinkedIn(OAuth2Provider):
    """The subject is `sub`. Its ID tokens do not repeat the nonce, so the profile is read from the
    user info endpoint. It has PKCE for native apps alone, and refuses a verifier from other
    clients.

    https://learn.microsoft.com/en-us/linkedin/consumer/integrations/self-serve/sign-in-with-linkedin-v2
    """

    authorization_endpoint = "https://www.linkedin.com/oauth/v2/authorization"
    token_endpoint = "https://www.linkedin.com/oauth/v2/accessToken"  # noqa: S105 an address
    userinfo_endpoint = "https://api.linkedin.com/v2/userinfo"
    scopes = ("openid", "profile", "email")
    supports_pkce = False

    def profile_of(self, data: Mapping[str, Any]) -> Profile:
        email, verified = read.verified_address(data.get("email"), data.get("email_verified"))
        return Profile(
            subject=read.subject(data.get("sub")),
            email=email,
            email_verified=verified,
            name=read.text(data.get("name")),
            first_name=read.text(data.get("given_name")),
            last_name=read.text(data.get("family_name")),
            avatar=read.url(data.get("picture")),
        )


@dataclass(frozen=True, kw_only=True)
class MicrosoftSettings(OpenIDSettings):
    tenant: str = "common"
    """Who can log in: `"common"`, `"organizations"`, `"consumers"`, or the id of one tenant."""
    trust_tenant_email: bool = False
    """Whether the addresses of that one tenant are verified; its administrators choose them."""

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        single = _TENANT_ID.fullmatch(self.tenant)
        if not single and self.tenant not in ("common", "organizations", "consumers"):
            yield (
                f"['TENANT'] is {self.tenant!r}, which is neither 'common', 'organizations' or"
                " 'consumers' nor the id of a tenant in lower case."
            )
        if self.trust_tenant_email and not single:
            yield "['TRUST_TENANT_EMAIL'] requires the id of one tenant in TENANT."
        if self.issuer and not self.userinfo_url:
            yield (
                "['USERINFO_URL'] is required with ISSUER: a national cloud has a Graph of"
                " its own, such as 'https://graph.microsoft.us/v1.0/me'."
            )


class Microsoft(OpenIDProvider):
    """Work, school and personal accounts. The subject is the `id` in Microsoft Graph.
    Administrators of any tenant can write any address into `mail` (an attack known as nOAuth), so
    an address is verified only if the ID token carries the optional claim `xms_edov`, or if the
    operator trusts the one tenant that can log in. `ISSUER` is the address of a national cloud
    without the tenant, such as `https://login.microsoftonline.us`.

    https://learn.microsoft.com/en-us/entra/identity-platform/v2-protocols-oidc
    https://learn.microsoft.com/en-us/entra/identity-platform/authentication-national-cloud
    """

    Settings = MicrosoftSettings
    userinfo_endpoint = "https://graph.microsoft.com/v1.0/me"
    scopes = ("openid", "email", "profile", "User.Read")
    # A native app logs in by a code only: the subject of an ID token is not the id in Graph.
    id_tokens = False

    def __init__(self, name: str, settings: Any) -> None:
        super().__init__(name, settings)
        # Not from metadata: their issuer has a placeholder in place of the tenant.
        base = f"{self.issuer or _MICROSOFT_LOGIN}/{settings.tenant}"
        self.authorization_endpoint = f"{base}/oauth2/v2.0/authorize"
        self.token_endpoint = f"{base}/oauth2/v2.0/token"
        self.jwks_endpoint = f"{base}/discovery/v2.0/keys"

    def is_issuer(self, claims: Claims) -> bool:
        # The issuer of the shared endpoints contains the tenant of the user.
        tenant = claims.get("tid")
        if not isinstance(tenant, str) or not _TENANT_ID.fullmatch(tenant):
            return False
        single = _TENANT_ID.fullmatch(self.settings.tenant)
        if single and tenant != self.settings.tenant:
            return False
        base = self.issuer or _MICROSOFT_LOGIN
        return bool(claims["iss"] == f"{base}/{tenant}/v2.0")

    def is_response_issuer(self, issuer: str) -> bool:
        tenant = issuer.removesuffix("/v2.0").rpartition("/")[2]
        return self.is_issuer({"iss": issuer, "tid": tenant})

    def read_profile(self, tokens: ProviderTokens, nonce: Secret | None) -> Profile:
        claims = self.claims_of(tokens, nonce)
        user = self.fetch(self.userinfo_url(), tokens.access_token)
        return self.profile_of({**user, "claims": claims})

    def profile_of(self, data: Mapping[str, Any]) -> Profile:
        claims = read.mapping(data.get("claims"))
        claimed = read.address(claims.get("email"))
        if claimed and read.flag(claims.get("xms_edov")):
            address, verified = claimed, True
        else:
            address = read.address(data.get("mail")) or claimed
            verified = bool(address) and self.settings.trust_tenant_email
        return Profile(
            subject=read.subject(data.get("id")),
            email=address,
            email_verified=verified,
            name=read.text(data.get("displayName")),
            first_name=read.text(data.get("givenName")),
            last_name=read.text(data.get("surname")),
        )


@dataclass(frozen=True, kw_only=True)
class AppleSettings(OpenIDSettings):
    required: ClassVar[tuple[str, ...]] = ("client_id", "team_id", "key_id", "private_key")

    team_id: str = ""
    """Id of the team in Apple's developer account."""
    key_id: str = ""
    """Id of the key that signs the client secret."""
    private_key: Secret = field(default_factory=lambda: Secret(""))
    """That key: the content of the `.p8` file that Apple offers for download."""

    def key(self) -> Secret:
        """The key, also if it came through an environment variable or a file that writes the ends
        of its lines as a backslash and an n, or puts quotes around it."""
        return Secret(self.private_key.reveal().strip().strip("'\"").replace("\\n", "\n"))

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.client_secret:
            yield "['CLIENT_SECRET'] is not used: it is made with PRIVATE_KEY."
        if self.private_key and not _is_es256_key(self.key()):
            yield (
                "['PRIVATE_KEY'] is not a private key for ES256 in PEM: the content of Apple's .p8"
                " file, from '-----BEGIN PRIVATE KEY-----' to '-----END PRIVATE KEY-----'."
            )


class Apple(OpenIDProvider):
    """The subject is `sub`, which is the same in all apps of a team. The callback is a form, since
    Apple refuses other forms of response to requests with scopes. Apple documents no PKCE.

    https://developer.apple.com/documentation/signinwithapplerestapi
    """

    Settings = AppleSettings
    issuer = "https://appleid.apple.com"
    authorization_endpoint = "https://appleid.apple.com/auth/authorize"
    token_endpoint = "https://appleid.apple.com/auth/token"  # noqa: S105 an address
    jwks_endpoint = "https://appleid.apple.com/auth/keys"
    scopes = ("name", "email")
    parameters: Mapping[str, str] = {"response_mode": "form_post"}
    supports_pkce = False
    form_post = True

    def client_secret(self) -> Secret:
        now = int(clock.timestamp())
        claims = {
            "iss": self.settings.team_id,
            "iat": now,
            "exp": now + _APPLE_SECRET_LIFE,
            "aud": Apple.issuer,
            "sub": self.client_id,
        }
        return Secret(
            jwt.encode(
                claims,
                self.settings.key().reveal(),
                algorithm="ES256",
                headers={"kid": self.settings.key_id},
            )
        )

    @clock.once
    def complete(self, parameters: Parameters, flow: Flow) -> ProviderResult:
        result = super().complete(parameters, flow)
        # Apple sends the names with the first login, by way of the browser. The user may have
        # changed them, which does no harm; the address beside them is not used.
        user = revealed(parameters.get("user", ""))
        try:
            parsed = json.loads(user, strict=False) if user else None
        except (ValueError, RecursionError):
            parsed = None
        name = read.mapping(read.mapping(parsed).get("name"))
        first, last = read.text(name.get("firstName")), read.text(name.get("lastName"))
        profile = dataclasses.replace(
            result.profile, first_name=first, last_name=last, name=f"{first} {last}".strip()
        )
        return dataclasses.replace(result, profile=profile)


def _is_es256_key(key: Secret) -> bool:
    try:
        loaded = load_pem_private_key(key.reveal().encode(), None)
    except (ValueError, TypeError):
        return False
    return isinstance(loaded, EllipticCurvePrivateKey) and loaded.curve.name == "secp256r1"
