"""Slack: "Sign in with Slack", OpenID Connect. https://api.slack.com/authentication/sign-in-with-slack"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from authservice.oauth import claims as read
from authservice.oauth.openid import OpenIDProvider, OpenIDSettings
from authservice.oauth.provider import Profile


class Slack(OpenIDProvider):
    """The subject is workspace and user, since Slack assigns user ids per workspace. Slack offers
    PKCE to public clients alone; the nonce of the ID token binds the response to the flow."""

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
