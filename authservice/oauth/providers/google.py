"""Google: OpenID Connect. https://developers.google.com/identity/openid-connect/openid-connect"""

from __future__ import annotations

from authservice.oauth.conf import conf
from authservice.oauth.id_tokens import Claims
from authservice.oauth.openid import OpenIDProvider, OpenIDSettings
from authservice.oauth.provider import Flow


class Google(OpenIDProvider):
    """The subject is `sub`; Google verifies addresses and says so in `email_verified`."""

    Settings = OpenIDSettings
    issuer = "https://accounts.google.com"
    authorization_endpoint = "https://accounts.google.com/o/oauth2/v2/auth"
    token_endpoint = "https://oauth2.googleapis.com/token"  # noqa: S105 an address
    userinfo_endpoint = "https://openidconnect.googleapis.com/v1/userinfo"
    jwks_endpoint = "https://www.googleapis.com/oauth2/v3/certs"

    def authorization_parameters(self, flow: Flow) -> dict[str, str]:
        known = super().authorization_parameters(flow)
        # Google issues a refresh token only if it is asked for one and for consent.
        if conf.store_provider_tokens:
            return {"access_type": "offline", "prompt": "consent", **known}
        return known

    def is_issuer(self, claims: Claims) -> bool:
        # Google documents both forms.
        return claims["iss"] in (self.issuer, self.issuer.removeprefix("https://"))
