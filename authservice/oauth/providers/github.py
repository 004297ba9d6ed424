"""GitHub: OAuth 2.0. https://docs.github.com/en/apps/oauth-apps/building-oauth-apps"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from authservice.kernel.secret import Secret
from authservice.oauth import claims as read
from authservice.oauth.oauth2 import OAuth2Provider
from authservice.oauth.provider import Profile, ProviderTokens
from authservice.oauth.provider_settings import ProviderSettings


@dataclass(frozen=True, kw_only=True)
class GitHubSettings(ProviderSettings):
    emails_url: str = ""
    """Replaces the address of the list of e-mail addresses."""


class GitHub(OAuth2Provider):
    """The subject is the numeric `id`, since a `login` can be renamed and taken by another user.
    The profile shows an address that may be unverified, so the list of addresses decides."""

    Settings = GitHubSettings
    authorization_endpoint = "https://github.com/login/oauth/authorize"
    token_endpoint = "https://github.com/login/oauth/access_token"  # noqa: S105 an address
    userinfo_endpoint = "https://api.github.com/user"
    emails_endpoint = "https://api.github.com/user/emails"
    scopes = ("user:email", "read:user")

    def read_profile(self, tokens: ProviderTokens, nonce: Secret | None) -> Profile:
        user = self.fetch(self.userinfo_url(), tokens.access_token)
        if "user:email" not in (self.settings.scopes or self.scopes):
            return self.profile_of(user)
        address = self.settings.emails_url or self.emails_endpoint
        return self.profile_of({**user, "emails": self.fetch_any(address, tokens.access_token)})

    def profile_of(self, data: Mapping[str, Any]) -> Profile:
        address, verified = _address(data.get("emails"))
        return Profile(
            subject=read.subject(data.get("id")),
            email=address,
            email_verified=verified,
            name=read.text(data.get("name")),
            avatar=read.url(data.get("avatar_url")),
        )


def _address(listed: Any) -> tuple[str, bool]:
    """The primary verified address, else another verified one, else the primary one."""
    entries = [entry for entry in listed if read.mapping(entry)] if isinstance(listed, list) else []
    entries = [entry for entry in entries if read.text(entry.get("email"))]

    def rank(entry: Mapping[str, Any]) -> tuple[bool, bool]:
        return entry.get("verified") is True, entry.get("primary") is True

    best = max(entries, key=rank, default=None)
    if best is None or not any(rank(best)):
        return "", False
    return best["email"], best.get("verified") is True
