"""Facebook: OAuth 2.0. https://developers.facebook.com/docs/facebook-login/guides"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from authservice.kernel.secret import Secret
from authservice.oauth import claims as read
from authservice.oauth.oauth2 import OAuth2Provider
from authservice.oauth.provider import Profile, ProviderTokens

_FIELDS = "id,name,first_name,last_name,email,picture.type(large)"


class Facebook(OAuth2Provider):
    """The subject is the `id`, which differs for each app. Facebook does not say whether an address
    is verified, so none is. Its code flow without an ID token documents no PKCE."""

    authorization_endpoint = "https://www.facebook.com/v23.0/dialog/oauth"
    token_endpoint = "https://graph.facebook.com/v23.0/oauth/access_token"  # noqa: S105 an address
    userinfo_endpoint = "https://graph.facebook.com/v23.0/me"
    scopes = ("email", "public_profile")
    supports_pkce = False

    def read_profile(self, tokens: ProviderTokens, nonce: Secret | None) -> Profile:
        # The proof shows that the request comes from this app, so it is accepted if the app
        # requires proofs, and stolen tokens are useless elsewhere.
        proof = hmac.digest(
            self.client_secret().reveal().encode(), tokens.access_token.reveal().encode(), "sha256"
        )
        query = urlencode({"fields": _FIELDS, "appsecret_proof": proof.hex()})
        return self.profile_of(self.fetch(f"{self.userinfo_url()}?{query}", tokens.access_token))

    def profile_of(self, data: Mapping[str, Any]) -> Profile:
        picture = read.mapping(read.mapping(data.get("picture")).get("data"))
        return Profile(
            subject=read.subject(data.get("id")),
            email=read.text(data.get("email")),
            name=read.text(data.get("name")),
            first_name=read.text(data.get("first_name")),
            last_name=read.text(data.get("last_name")),
            avatar=read.url(picture.get("url")),
        )
