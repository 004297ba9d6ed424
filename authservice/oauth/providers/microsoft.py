"""Microsoft: work, school and personal accounts, OpenID Connect and Microsoft Graph.

https://learn.microsoft.com/en-us/entra/identity-platform/v2-protocols-oidc
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from authservice.kernel.secret import Secret
from authservice.oauth import claims as read
from authservice.oauth.id_tokens import Claims
from authservice.oauth.openid import OpenIDProvider, OpenIDSettings
from authservice.oauth.provider import Profile, ProviderTokens

_TENANT_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LOGIN = "https://login.microsoftonline.com"


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


class Microsoft(OpenIDProvider):
    """The subject is the `id` in Graph. Administrators of any tenant can write any address into
    `mail` (an attack known as nOAuth), so an address is verified only if the ID token carries the
    optional claim `xms_edov`, or if the operator trusts the one tenant that can log in."""

    Settings = MicrosoftSettings
    userinfo_endpoint = "https://graph.microsoft.com/v1.0/me"
    scopes = ("openid", "email", "profile", "User.Read")
    # Native apps exchange codes: their ID tokens have other subjects than Graph.
    id_tokens = False

    def __init__(self, name: str, settings: Any) -> None:
        super().__init__(name, settings)
        base = f"{_LOGIN}/{settings.tenant}"
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
        base = self.issuer or _LOGIN
        return bool(claims["iss"] == f"{base}/{tenant}/v2.0")

    def is_response_issuer(self, issuer: str) -> bool:
        tenant = issuer.removesuffix("/v2.0").rpartition("/")[2]
        return self.is_issuer({"iss": issuer, "tid": tenant})

    def read_profile(self, tokens: ProviderTokens, nonce: Secret | None) -> Profile:
        claims = self.claims_of(tokens, nonce)
        user = self.fetch(self.userinfo_url(), tokens.access_token)
        return self.profile_of({**user, "claims": claims})

    def profile_of(self, data: Mapping[str, Any]) -> Profile:
        address, verified = self._address(data)
        return Profile(
            subject=read.subject(data.get("id")),
            email=address,
            email_verified=verified,
            name=read.text(data.get("displayName")),
            first_name=read.text(data.get("givenName")),
            last_name=read.text(data.get("surname")),
        )

    def _address(self, data: Mapping[str, Any]) -> tuple[str, bool]:
        claims = read.mapping(data.get("claims"))
        claimed = read.address(claims.get("email"))
        if claimed and read.flag(claims.get("xms_edov")):
            return claimed, True
        address = read.address(data.get("mail")) or claimed
        return address, bool(address) and self.settings.trust_tenant_email
