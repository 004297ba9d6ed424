"""Providers that speak OAuth 2.0 alone, each with an API of its own for the profile: GitHub,
Discord and Facebook."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from authservice.core.users.identifiers import receives_mail
from authservice.kernel.secret import Secret
from authservice.oauth import claims as read
from authservice.oauth.oauth2 import OAuth2Provider
from authservice.oauth.provider import Profile, ProviderTokens
from authservice.oauth.provider_settings import ProviderSettings, vouches_for

# The scopes with which the list of addresses can be read: `user` includes `user:email`.
_READ_EMAILS = frozenset({"user", "user:email"})
_FACEBOOK_FIELDS = "id,name,first_name,last_name,email,picture.type(large)"


@dataclass(frozen=True, kw_only=True)
class GitHubSettings(ProviderSettings):
    emails_url: str = ""
    """Replaces the address of the list of e-mail addresses."""


class GitHub(OAuth2Provider):
    """The subject is the numeric `id`, since a `login` can be renamed and taken by another user.
    The profile shows an address that may be unverified, so the list of addresses decides.

    https://docs.github.com/en/apps/oauth-apps/building-oauth-apps
    """

    Settings = GitHubSettings
    authorization_endpoint = "https://github.com/login/oauth/authorize"
    token_endpoint = "https://github.com/login/oauth/access_token"  # noqa: S105 an address
    userinfo_endpoint = "https://api.github.com/user"
    emails_endpoint = "https://api.github.com/user/emails"
    scopes = ("user:email", "read:user")

    def read_profile(self, tokens: ProviderTokens, nonce: Secret | None) -> Profile:
        user = self.fetch(self.userinfo_url(), tokens.access_token)
        if _READ_EMAILS.isdisjoint(self.requested_scopes()):
            return self.profile_of(user)
        emails_url = self.settings.emails_url or self.emails_endpoint
        return self.profile_of({**user, "emails": self.fetch_any(emails_url, tokens.access_token)})

    def profile_of(self, data: Mapping[str, Any]) -> Profile:
        address, verified = _address(data.get("emails"), self.name)
        return Profile(
            subject=read.subject(data.get("id")),
            email=address,
            email_verified=verified,
            name=read.text(data.get("name")),
            avatar=read.url(data.get("avatar_url")),
        )


def _address(listed: Any, provider: str) -> tuple[str, bool]:
    """The best address and whether it is verified. An address in `EMAIL_DOMAINS` comes first, since
    all others count as unverified; then the primary verified address, another verified address,
    and the primary address. A no-reply address of GitHub comes last and is never verified."""
    entries = [entry for entry in listed if read.mapping(entry)] if isinstance(listed, list) else []
    entries = [entry for entry in entries if read.text(entry.get("email"))]

    def rank(entry: Mapping[str, Any]) -> tuple[bool, bool, bool, bool]:
        verified, primary = read.flag(entry.get("verified")), read.flag(entry.get("primary"))
        real = receives_mail(entry["email"])
        proven = verified and real
        trusted = proven and vouches_for(provider, entry["email"])
        return trusted, proven, primary and real, verified or primary

    best = max(entries, key=rank, default=None)
    if best is None or not any(rank(best)):
        return "", False
    return best["email"], rank(best)[1]


class Discord(OAuth2Provider):
    """The subject is `id`; `verified` says whether the address is verified.

    https://discord.com/developers/docs/topics/oauth2
    """

    authorization_endpoint = "https://discord.com/oauth2/authorize"
    token_endpoint = "https://discord.com/api/oauth2/token"  # noqa: S105 an address
    userinfo_endpoint = "https://discord.com/api/users/@me"
    scopes = ("identify", "email")

    def profile_of(self, data: Mapping[str, Any]) -> Profile:
        subject = read.subject(data.get("id"))
        email, verified = read.verified_address(data.get("email"), data.get("verified"))
        digest = read.text(data.get("avatar"))
        has_avatar = digest.replace("_", "").isalnum() and subject.isdecimal()
        avatar = f"https://cdn.discordapp.com/avatars/{subject}/{digest}.png" if has_avatar else ""
        return Profile(
            subject=subject,
            email=email,
            email_verified=verified,
            name=read.text(data.get("global_name")) or read.text(data.get("username")),
            avatar=avatar,
        )


class Facebook(OAuth2Provider):
    """The subject is the `id`, which differs for each app. Facebook does not say whether an address
    is verified, so none is. Its code flow without an ID token documents no PKCE.

    https://developers.facebook.com/docs/facebook-login/guides
    """

    authorization_endpoint = "https://www.facebook.com/v23.0/dialog/oauth"
    token_endpoint = "https://graph.facebook.com/v23.0/oauth/access_token"  # noqa: S105 an address
    userinfo_endpoint = "https://graph.facebook.com/v23.0/me"
    scopes = ("email", "public_profile")
    supports_pkce = False

    def read_profile(self, tokens: ProviderTokens, nonce: Secret | None) -> Profile:
        # The proof shows that the request comes from this app. An app can be set to require it of
        # all requests, so that stolen tokens are useless elsewhere.
        proof = hmac.digest(
            self.client_secret().reveal().encode(), tokens.access_token.reveal().encode(), "sha256"
        )
        query = urlencode({"fields": _FACEBOOK_FIELDS, "appsecret_proof": proof.hex()})
        return self.profile_of(self.fetch(f"{self.userinfo_url()}?{query}", tokens.access_token))

    def profile_of(self, data: Mapping[str, Any]) -> Profile:
        picture = read.mapping(read.mapping(data.get("picture")).get("data"))
        return Profile(
            subject=read.subject(data.get("id")),
            email=read.address(data.get("email")),
            name=read.text(data.get("name")),
            first_name=read.text(data.get("first_name")),
            last_name=read.text(data.get("last_name")),
            avatar=read.url(picture.get("url")),
        )
