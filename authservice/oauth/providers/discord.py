"""Discord: OAuth 2.0. https://discord.com/developers/docs/topics/oauth2"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from authservice.oauth import claims as read
from authservice.oauth.oauth2 import OAuth2Provider
from authservice.oauth.provider import Profile


class Discord(OAuth2Provider):
    """The subject is `id`; `verified` says whether the address is verified."""

    authorization_endpoint = "https://discord.com/oauth2/authorize"
    token_endpoint = "https://discord.com/api/oauth2/token"  # noqa: S105 an address
    userinfo_endpoint = "https://discord.com/api/users/@me"
    scopes = ("identify", "email")

    def profile_of(self, data: Mapping[str, Any]) -> Profile:
        subject = read.subject(data.get("id"))
        return Profile(
            subject=subject,
            email=read.text(data.get("email")),
            email_verified=data.get("verified") is True,
            name=read.text(data.get("global_name")) or read.text(data.get("username")),
            avatar=_avatar(subject, read.text(data.get("avatar"))),
        )


def _avatar(subject: str, digest: str) -> str:
    known = digest.replace("_", "").isalnum() and subject.isdecimal()
    return f"https://cdn.discordapp.com/avatars/{subject}/{digest}.png" if known else ""
