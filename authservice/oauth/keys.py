"""The public keys of an OpenID provider (JWK set, RFC 7517), and which key verifies a token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt import PyJWK
from jwt.exceptions import PyJWTError

# Asymmetric algorithms alone, by type of key and curve: with HMAC the public key would be the
# secret, and "none" signs nothing.
_ALGORITHMS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("RSA", ""): ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    ("EC", "P-256"): ("ES256",),
    ("EC", "P-384"): ("ES384",),
    ("EC", "P-521"): ("ES512",),
    ("OKP", "Ed25519"): ("EdDSA",),
}
_MIN_RSA_BITS = 2048


def find_key(jwks: Any, header: Mapping[str, Any]) -> PyJWK | None:
    """The one key of the set for a token with this header, None if there is not exactly one. A
    token without `kid` is accepted if a single key fits its algorithm."""
    fitting = [key for key in _keys(jwks) if _fits(key, header)]
    if len(fitting) != 1:
        return None
    return _usable(fitting[0], header["alg"])


def is_key_set(document: Any) -> bool:
    """Whether a document is a JWK set; one without keys is too, since a provider may withdraw
    them."""
    keys = document.get("keys") if isinstance(document, dict) else None
    return isinstance(keys, list) and (not keys or bool(_keys(document)))


def _keys(jwks: Any) -> list[dict[str, Any]]:
    keys = jwks.get("keys") if isinstance(jwks, dict) else None
    return [key for key in keys if isinstance(key, dict)] if isinstance(keys, list) else []


def _fits(key: dict[str, Any], header: Mapping[str, Any]) -> bool:
    alg, kid = header.get("alg"), header.get("kid")
    kind = (str(key.get("kty")), "" if key.get("kty") == "RSA" else str(key.get("crv")))
    return (
        alg in _ALGORITHMS.get(kind, ())
        and key.get("alg", alg) == alg
        and key.get("use", "sig") == "sig"
        and (kid is None or key.get("kid") == kid)
    )


def _usable(key: dict[str, Any], alg: str) -> PyJWK | None:
    try:
        found = PyJWK(key, algorithm=alg)
    except (PyJWTError, ValueError, TypeError, KeyError):
        return None
    if isinstance(found.key, RSAPublicKey) and found.key.key_size < _MIN_RSA_BITS:
        return None
    return found
