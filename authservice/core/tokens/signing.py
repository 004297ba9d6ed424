"""Access tokens and refresh tokens: issue and read both, and the keys that sign access tokens.

Only this file verifies the signature of an access token. By default the key is HS256, derived from
`SECRET_KEY`; keys derived from `SECRET_KEY_FALLBACKS` still verify. With `SIGNING_KEYS` the
algorithm is one of `ALGORITHMS`, and each key has a state: "next" is published but does not sign
yet, "active" signs, "retired" only verifies. When a project adds `SIGNING_KEYS`, tokens signed with
the derived key count as expired, so clients refresh them.

The host's own simplejwt keys are never used: tokens of the host are not valid here, and ours are
not valid there.

PyJWT is imported with the first token, since it imports all of `cryptography`: 25 ms, a tenth of
what a worker needs to start, and a management command or a worker of Celery needs no token.

Access tokens have the claims of RFC 9068. The format of a refresh token is `version | session id |
counter | MAC`, base64url. No part of it is stored. The MAC (HMAC-SHA-256) covers the other parts
and the random seed in the row of the session. An attacker therefore cannot forge a token with a
leaked database alone, nor with a leaked key alone.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any
from uuid import UUID

from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from authservice.core.conf import core
from authservice.core.models import Session
from authservice.core.users.person import Person
from authservice.kernel import clock, errors, levels, settings
from authservice.kernel.interfaces import SessionData
from authservice.kernel.modules import plugs
from authservice.kernel.secret import Secret, Unreadable, b64, keys, mac, macs, unb64
from authservice.kernel.sections import root

# Ed25519 is the name that RFC 9864 gives to EdDSA with this curve. Some verifiers know only one of
# the two names.
ALGORITHMS = ("EdDSA", "Ed25519", "ES256", "RS256")
STATES = ("next", "active", "retired")
TYPE = "at+jwt"  # RFC 9068 section 2.1
CLAIMS = {
    **dict.fromkeys(("iss", "aud", "sub", "jti", "typ", "sid"), str),
    **dict.fromkeys(("iat", "exp", "ver"), int),
}

# The only members of a header: no `jku`, `jwk`, `x5u`, `crit` or `b64` (RFC 8725 section 3).
_HEADER = {"alg", "kid", "typ"}
_MINIMUM_RSA = 2048
# `json.dumps` with options builds an encoder for each call.
_encode = json.JSONEncoder(separators=(",", ":")).encode


@dataclass(frozen=True)
class Key:
    """A key and its id; `signing` is None for a key that only verifies."""

    kid: str
    alg: str
    state: str
    signing: Any
    verifying: Any
    jwk: Mapping[str, Any] | None = None

    def verifies(self, message: bytes, signature: bytes) -> bool:
        """Whether the signature is valid for this key and its one algorithm (RFC 7515)."""
        return bool(_algorithm(self.alg).verify(message, self.verifying, signature))


class KeyRing:
    """Signs with the active key, verifies with each key."""

    def __init__(self, keys: tuple[Key, ...], replaced: tuple[Key, ...] = ()) -> None:
        """`replaced` are keys whose tokens are no longer valid, but are recognized as ours."""
        self.keys = {key.kid: key for key in keys}
        self._replaced = {key.kid: key for key in replaced}
        # A list, since a value in a foreign header may not be hashable.
        self._kids = [*self.keys, *self._replaced]
        self.active = next(key for key in keys if key.state == "active")
        self._header = _segment({"alg": self.active.alg, "kid": self.active.kid, "typ": TYPE})
        self.audience = root.audience
        self.issuer = root.issuer or root.api_url or "authservice"

    def encode(self, payload: dict[str, Any]) -> str:
        claims = {**payload, "iss": self.issuer, "aud": self.audience}
        signed = f"{self._header}.{_segment(claims)}"
        # The token is assembled here rather than by `jwt.encode`, which inspects the key for each
        # token. PyJWT makes the signature itself.
        signature = _algorithm(self.active.alg).sign(signed.encode("ascii"), self.active.signing)
        return f"{signed}.{b64(signature)}"

    def read(self, token: str) -> dict[str, Any]:
        """The claims of a valid, unexpired token. Raises `InvalidToken` or `TokenExpired`. A token
        of a replaced key is never accepted: it counts as expired.

        The three segments are split here rather than by `jwt.decode`, which spends most of its
        time on checking each character. PyJWT verifies the signature itself. Each claim must be
        present and of its type, with our issuer and audience (RFC 7519 section 7.2, RFC 8725
        section 3).
        """
        signed, _, signature = token.rpartition(".")
        header, _, payload = signed.partition(".")
        kid, alg = _named(header)
        key = self.keys.get(kid) or self._replaced.get(kid)
        try:
            if (
                key is None
                or key.alg != alg
                or not key.verifies(signed.encode("ascii"), unb64(signature))
            ):
                raise errors.InvalidToken
            claims = json.loads(unb64(payload))
        except (ValueError, RecursionError) as error:
            raise errors.InvalidToken from error
        if not isinstance(claims, dict):
            raise errors.InvalidToken
        for name, kind in CLAIMS.items():
            if type(claims.get(name)) is not kind:
                raise errors.InvalidToken
        if claims["iss"] != self.issuer or claims["aud"] != self.audience:
            raise errors.InvalidToken
        # `iat` is not compared with the clock: the clocks of two servers may differ by a second.
        if claims["exp"] <= clock.timestamp():
            raise errors.TokenExpired
        if kid in self._replaced:
            raise errors.TokenExpired
        return claims

    def names_us(self, token: str) -> bool:
        """Whether the token says that it is ours, valid or not: by its `kid` or its `iss`. A token
        without `iss` says so by its `typ`, which alone is not enough: other issuers use the same
        `typ` (RFC 9068). Nothing is verified."""
        header, claims = (_unverified(part) for part in (token.split(".") + ["", ""])[:2])
        if header.get("kid") in self._kids:
            return True
        typ = str(header.get("typ", "")).lower().removeprefix("application/")
        return bool(claims.get("iss", self.issuer if typ == TYPE else "") == self.issuer)

    def published(self) -> list[Mapping[str, Any]]:
        """The public keys as JWKs (RFC 7517); a symmetric key has no public part."""
        return [key.jwk for key in self.keys.values() if key.jwk]


def _segment(values: dict[str, Any]) -> str:
    return b64(_encode(values).encode())


def _unverified(segment: str) -> dict[str, Any]:
    """The JSON object in a segment of a token, empty if there is none."""
    try:
        value = json.loads(unb64(segment))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


@cache
def _algorithm(alg: str) -> Any:
    from jwt.algorithms import get_default_algorithms

    return get_default_algorithms()["EdDSA" if alg == "Ed25519" else alg]


@lru_cache(maxsize=256)
def _named(header: str) -> tuple[str, str]:
    """The `kid` and `alg` of a header, both empty if the header does not have our form."""
    try:
        parsed = json.loads(unb64(header))
    except (ValueError, RecursionError):
        return "", ""
    if not isinstance(parsed, dict) or set(parsed) != _HEADER or parsed["typ"] != TYPE:
        return "", ""
    return str(parsed["kid"]), str(parsed["alg"])


@settings.cached
def ring() -> KeyRing:
    """The keys of the current settings, cached: parsing a key costs more than using it."""
    derived = tuple(
        Key(
            kid=b64(hashlib.sha256(b"kid:" + secret).digest()[:9]),
            alg="HS256",
            state="retired" if number else "active",
            signing=secret,
            verifying=secret,
        )
        for number, secret in enumerate(keys("access-token"))
    )
    return KeyRing(tuple(configured()), replaced=derived) if root.signing_keys else KeyRing(derived)


def configured() -> list[Key]:
    """The keys in `SIGNING_KEYS`. Raises `ImproperlyConfigured` with the key and the fault."""
    return parsed(root.signing_keys)


def parsed(entries: Iterable[Any]) -> list[Key]:
    """The keys of a list in the form of `SIGNING_KEYS`. Raises `ImproperlyConfigured`."""
    keys = [_parse(number, entry) for number, entry in enumerate(entries)]
    if sum(key.state == "active" for key in keys) != 1:
        raise ImproperlyConfigured("SIGNING_KEYS needs exactly one key whose state is 'active'.")
    if len({key.kid for key in keys}) != len(keys):
        raise ImproperlyConfigured("SIGNING_KEYS has two keys with the same kid.")
    return keys


def _parse(number: int, entry: Any) -> Key:
    where = f"SIGNING_KEYS[{number}]"
    if not isinstance(entry, Mapping):
        raise ImproperlyConfigured(f"{where} must be a dict.")
    state, alg = entry.get("state", "active"), entry.get("alg")
    if alg not in ALGORITHMS:
        raise ImproperlyConfigured(f"{where}['alg'] must be one of {', '.join(ALGORITHMS)}.")
    if state not in STATES:
        raise ImproperlyConfigured(f"{where}['state'] must be one of {', '.join(STATES)}.")
    private, public = _pem(where, entry)
    if private is None and state != "retired":
        raise ImproperlyConfigured(f"{where}['private_key'] is missing.")
    jwk = _jwk(where, alg, public)
    kid = entry.get("kid")
    if not kid:
        # RFC 7638: SHA-256 of the required members in lexicographic order.
        members = {
            "OKP": ("crv", "kty", "x"),
            "EC": ("crv", "kty", "x", "y"),
            "RSA": ("e", "kty", "n"),
        }
        required = {name: jwk[name] for name in members[jwk["kty"]]}
        text = json.dumps(required, separators=(",", ":"), sort_keys=True)
        kid = b64(hashlib.sha256(text.encode()).digest())
    published = {**jwk, "kid": kid, "use": "sig", "alg": alg}
    return Key(str(kid), alg, state, private, public, published)


def _pem(where: str, entry: Mapping[str, Any]) -> tuple[Any, Any]:
    """The private key of an entry, or None, and its public key."""
    from cryptography.hazmat.primitives.serialization import (
        load_pem_private_key,
        load_pem_public_key,
    )

    try:
        if entry.get("private_key"):
            private: Any = load_pem_private_key(_octets(entry["private_key"]), password=None)
            return private, private.public_key()
        return None, load_pem_public_key(_octets(entry.get("public_key", "")))
    except (ValueError, TypeError) as error:
        raise ImproperlyConfigured(f"{where} does not contain a readable PEM key.") from error


def _octets(pem: str | bytes) -> bytes:
    return pem.encode() if isinstance(pem, str) else pem


def _jwk(where: str, alg: str, public: Any) -> dict[str, Any]:
    """The public key as a JWK. Raises `ImproperlyConfigured` if it is not a key for `alg`."""
    from jwt import InvalidKeyError

    algorithm = _algorithm(alg)
    try:
        jwk = dict(algorithm.to_jwk(algorithm.prepare_key(public), as_dict=True))
    except (InvalidKeyError, TypeError, ValueError, AttributeError) as error:
        raise ImproperlyConfigured(f"{where} is not a key for {alg}.") from error
    curve = {"EdDSA": "Ed25519", "Ed25519": "Ed25519", "ES256": "P-256"}.get(alg)
    if curve != jwk.get("crv") or (alg == "RS256" and public.key_size < _MINIMUM_RSA):
        raise ImproperlyConfigured(f"{where} is not a key for {alg}.")
    # `_parse` adds `use`, and a key should not have both (RFC 7517 section 4.3).
    jwk.pop("key_ops", None)
    return jwk


ACCESS = "access"


def issue_access_token(person: Person, session: Session) -> tuple[Secret, int]:
    """A new access token of the session, and its lifetime in seconds."""
    now = clock.timestamp()
    # An access token never expires later than its session.
    remaining = session.expires_at.timestamp() - now
    seconds = max(1, int(min(root.access_token_ttl.total_seconds(), remaining)))

    additional: dict[str, Any] = {}
    if core.claims_hook:
        additional.update(import_string(core.claims_hook)(person.user))
    for data in plugs(SessionData):
        additional.update(data.claims(person, session))

    claims = {
        **additional,
        "sub": person.id,
        "jti": secrets.token_hex(16),
        "iat": int(now),
        "exp": int(now) + seconds,
        "typ": ACCESS,
        "ver": person.token_version,
        "sid": str(session.pk),
        "amr": session.amr.split(),
        "auth_time": int(session.auth_time.timestamp()),
    }
    if (level := levels.of(session.amr.split())) is not None:
        claims["acr"] = level
    return Secret(ring().encode(claims)), seconds


def read_access_token(token: Secret) -> dict[str, Any]:
    """The claims of an access token with a valid signature. Raises `InvalidToken` or
    `TokenExpired`."""
    claims = ring().read(token.reveal())
    if claims["typ"] != ACCESS:
        raise errors.InvalidToken
    return claims


def is_ours(token: Secret) -> bool:
    """Whether the token says that this service issued it. A token of another issuer is left to
    the other authentication of the project. A token that names this service is refused if it is
    not valid."""
    return ring().names_us(token.reveal())


_REFRESH = "refresh-token"
_REFRESH_VERSION = 1
# The version, the session id and the counter.
_BODY = struct.Struct(">B16sI")
_MAC = 32  # bytes


@dataclass(frozen=True)
class RefreshToken:
    session_id: UUID
    counter: int
    mac: bytes = field(repr=False)

    def genuine(self, seed: str) -> bool:
        """Whether the MAC is valid for the seed in the row of the session, under the current key or
        a fallback."""
        message = _refresh_message(self.session_id, self.counter, seed)
        return any(hmac.compare_digest(made, self.mac) for made in macs(_REFRESH, message))


def derive_refresh_token(session_id: UUID, counter: int, seed: str) -> Secret:
    """The refresh token of the session with this counter. It can be derived again while the keys
    are the same."""
    body = _BODY.pack(_REFRESH_VERSION, session_id.bytes, counter)
    return Secret(b64(body + mac(_REFRESH, _refresh_message(session_id, counter, seed))))


def parse_refresh_token(text: Secret) -> RefreshToken:
    """The parts of a token; the MAC is not verified. Raises `Unreadable`."""
    raw = unb64(text.reveal())
    if len(raw) != _BODY.size + _MAC or raw[0] != _REFRESH_VERSION:
        raise Unreadable
    _, session_id, counter = _BODY.unpack_from(raw)
    return RefreshToken(UUID(bytes=session_id), counter, raw[_BODY.size :])


def _refresh_message(session_id: UUID, counter: int, seed: str) -> bytes:
    return _BODY.pack(_REFRESH_VERSION, session_id.bytes, counter) + bytes.fromhex(seed)
