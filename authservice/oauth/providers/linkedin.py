"""LinkedIn: "Sign In with LinkedIn using OpenID Connect", read by OAuth 2.0.

https://learn.microsoft.com/en-us/linkedin/consumer/integrations/self-serve/sign-in-with-linkedin-v2
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from authservice.oauth import claims as read
from authservice.oauth.oauth2 import OAuth2Provider
from authservice.oauth.provider import Profile


class LinkedIn(OAuth2Provider):
    """The subject is `sub`. Its ID tokens do not repeat the nonce, so the profile is read from the
    user info endpoint. It has PKCE for native apps alone, and refuses a verifier of others."""

    authorization_endpoint = "https://www.linkedin.com/oauth/v2/authorization"
    token_endpoint = "https://www.linkedin.com/oauth/v2/accessToken"  # noqa: S105 an address
    userinfo_endpoint = "https://api.linkedin.com/v2/userinfo"
    scopes = ("openid", "profile", "email")
    supports_pkce = False

    def profile_of(self, data: Mapping[str, Any]) -> Profile:
        return Profile(
            subject=read.subject(data.get("sub")),
            email=read.text(data.get("email")),
            email_verified=data.get("email_verified") is True,
            name=read.text(data.get("name")),
            first_name=read.text(data.get("given_name")),
            last_name=read.text(data.get("family_name")),
            avatar=read.url(data.get("picture")),
        )
