"""A provider from outside the package, as docs/oauth_providers.rst shows it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from authservice.oauth.claims import subject, text
from authservice.oauth.oauth2 import OAuth2Provider
from authservice.oauth.provider import Profile
from authservice.oauth.provider_settings import ProviderSettings


@dataclass(frozen=True, kw_only=True)
class ForumSettings(ProviderSettings):
    board: str = "main"
    """Board whose members can log in."""


class Forum(OAuth2Provider):
    Settings = ForumSettings
    authorization_endpoint = "https://forum.example.com/oauth/authorize"
    token_endpoint = "https://forum.example.com/oauth/token"
    userinfo_endpoint = "https://forum.example.com/api/me"
    scopes = ("profile",)

    def profile_of(self, data: Mapping[str, Any]) -> Profile:
        return Profile(
            subject=subject(data.get("member_id")),
            email=text(data.get("mail")),
            email_verified=data.get("mail_confirmed") is True,
            name=f"{text(data.get('nick'))} ({self.settings.board})",
        )
