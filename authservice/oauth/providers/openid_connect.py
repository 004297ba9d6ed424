"""Providers that speak OpenID Connect as it is written: Google, GitLab, Slack and LinkedIn.

Each class names the page of its provider.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from authservice.oauth import claims as read
from authservice.oauth.conf import conf
from authservice.oauth.id_tokens import Claims
from authservice.oauth.oauth2 import OAuth2Provider
from authservice.oauth.openid import OpenIDProvider, OpenIDSettings
from authservice.oauth.provider import Flow, Profile


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
        known = super().authorization_parameters(flow)
        # Google issues a refresh token only if it is asked for one and for consent.
        if conf.store_provider_tokens:
            return {"access_type": "offline", "prompt": "consent", **known}
        return known

    def is_issuer(self, claims: Claims) -> bool:
        # Google documents both forms.
        return claims["iss"] in (self.issuer, self.issuer.removeprefix("https://"))


class GitLab(OpenIDProvider):
    """The subject is the user's id. `ISSUER` is the address of an instance of one's own.

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
    user info endpoint. It has PKCE for native apps alone, and refuses a verifier of others.

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
