"""Apple: "Sign in with Apple". https://developer.apple.com/documentation/signinwithapplerestapi"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import jwt
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from authservice.kernel import clock
from authservice.kernel.outbound.transport import revealed
from authservice.kernel.secret import Secret
from authservice.oauth import claims as read
from authservice.oauth.openid import OpenIDProvider, OpenIDSettings
from authservice.oauth.provider import Flow, Parameters, Profile, ProviderResult

_SECRET_LIFE = 300  # seconds


@dataclass(frozen=True, kw_only=True)
class AppleSettings(OpenIDSettings):
    required: ClassVar[tuple[str, ...]] = ("client_id", "team_id", "key_id", "private_key")

    team_id: str = ""
    """Id of the team in Apple's developer account."""
    key_id: str = ""
    """Id of the key that signs the client secret."""
    private_key: Secret = field(default_factory=lambda: Secret(""))
    """That key: the content of the `.p8` file that Apple offers for download."""

    def key(self) -> Secret:
        """The key, also if it came through an environment variable or a file that writes the ends
        of its lines as a backslash and an n, or puts quotes around it."""
        return Secret(self.private_key.reveal().strip().strip("'\"").replace("\\n", "\n"))

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.client_secret:
            yield "['CLIENT_SECRET'] is not used: it is made with PRIVATE_KEY."
        if self.private_key and not _is_key(self.key()):
            yield (
                "['PRIVATE_KEY'] is not a private key for ES256 in PEM: the content of Apple's .p8"
                " file, from '-----BEGIN PRIVATE KEY-----' to '-----END PRIVATE KEY-----'."
            )


class Apple(OpenIDProvider):
    """The subject is `sub`, which is the same in all apps of a team. The callback is a form, since
    Apple refuses other forms of response to requests with scopes. Apple documents no PKCE."""

    Settings = AppleSettings
    issuer = "https://appleid.apple.com"
    authorization_endpoint = "https://appleid.apple.com/auth/authorize"
    token_endpoint = "https://appleid.apple.com/auth/token"  # noqa: S105 an address
    jwks_endpoint = "https://appleid.apple.com/auth/keys"
    scopes = ("name", "email")
    parameters: Mapping[str, str] = {"response_mode": "form_post"}
    supports_pkce = False
    form_post = True

    def client_secret(self) -> Secret:
        now = int(clock.timestamp())
        claims = {
            "iss": self.settings.team_id,
            "iat": now,
            "exp": now + _SECRET_LIFE,
            "aud": Apple.issuer,
            "sub": self.client_id,
        }
        return Secret(
            jwt.encode(
                claims,
                self.settings.key().reveal(),
                algorithm="ES256",
                headers={"kid": self.settings.key_id},
            )
        )

    @clock.once
    def complete(self, parameters: Parameters, flow: Flow) -> ProviderResult:
        result = super().complete(parameters, flow)
        profile = _named(result.profile, revealed(parameters.get("user", "")))
        return dataclasses.replace(result, profile=profile)


def _named(profile: Profile, user: str) -> Profile:
    """With the names that Apple sends with the first login, by way of the browser. The user may
    have changed them, which does no harm; the address beside them is not used."""
    try:
        given = json.loads(user, strict=False) if user else None
    except (ValueError, RecursionError):
        given = None
    name = read.mapping(read.mapping(given).get("name"))
    first, last = read.text(name.get("firstName")), read.text(name.get("lastName"))
    whole = f"{first} {last}".strip()
    return dataclasses.replace(profile, first_name=first, last_name=last, name=whole)


def _is_key(key: Secret) -> bool:
    try:
        loaded = load_pem_private_key(key.reveal().encode(), None)
    except (ValueError, TypeError):
        return False
    return isinstance(loaded, EllipticCurvePrivateKey) and loaded.curve.name == "secp256r1"
