"""Verification of ID tokens: OpenID Connect Core 1.0 section 3.1.3.7."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import jwt
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from authservice.kernel import clock, crypto
from authservice.kernel.secret import Secret

Claims = Mapping[str, Any]

_LEEWAY = timedelta(seconds=30)
_MAX_LENGTH = 16 * 1024
# Older releases of PyJWT, among them 2.13, also raise exceptions that are not their own: for claims
# of a wrong type and for JSON that is nested too deeply.
_UNREADABLE = (PyJWTError, OverflowError, RecursionError, TypeError, ValueError)


class InvalidIDToken(Exception):
    """The ID token is not acceptable. The text is a fixed reason, for the log."""


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What an ID token must say. Without a nonce none is compared: the caller then has another
    proof that the token belongs to the flow. `max_age` is the age since `iat`, if it matters.
    `access_token` is the one that was sent in the same response."""

    is_issuer: Callable[[Claims], bool]
    audiences: Collection[str]
    nonce: Secret | None
    max_age: timedelta | None = None
    access_token: Secret | None = None


def header_of(id_token: Secret) -> Mapping[str, Any]:
    """The unverified header. Raises `InvalidIDToken`, also for a header with a key of its own."""
    if len(id_token.reveal()) > _MAX_LENGTH:
        raise InvalidIDToken("too long")
    try:
        header = jwt.get_unverified_header(id_token.reveal())
    except _UNREADABLE:
        raise InvalidIDToken("malformed") from None
    if "jwk" in header:
        raise InvalidIDToken("embedded key")
    return header


def verify(id_token: Secret, key: PyJWK, expected: Expected) -> Claims:
    """The claims of the token. Raises `InvalidIDToken`."""
    try:
        claims: Claims = jwt.decode(
            id_token.reveal(),
            key,
            algorithms=[key.algorithm_name],
            audience=list(expected.audiences),
            leeway=_LEEWAY,
            options=_options("iss", "sub", "aud", "exp", "iat"),
        )
    except _UNREADABLE as error:
        # Its text may repeat claims.
        raise InvalidIDToken(type(error).__name__) from None
    _check(claims, expected)
    # Optional in the code flow. If it is there, the access token must be that of the ID token: the
    # profile is read with it.
    if expected.access_token and claims.get("at_hash") is not None:
        _check_hash(claims["at_hash"], expected.access_token, key)
    return claims


def verify_userinfo(
    signed: Secret, key: PyJWK, is_issuer: Callable[[Claims], bool], client_id: str
) -> Claims:
    """The claims of a signed response of the user info endpoint (OpenID Connect Core 1.0 section
    5.3.2). Raises `InvalidIDToken`."""
    try:
        claims: Claims = jwt.decode(
            signed.reveal(),
            key,
            algorithms=[key.algorithm_name],
            audience=client_id,
            leeway=_LEEWAY,
            options=_options("iss", "sub", "aud"),
        )
    except _UNREADABLE as error:
        raise InvalidIDToken(type(error).__name__) from None
    if not is_issuer(claims):
        raise InvalidIDToken("issuer")
    return claims


def _options(*required: str) -> Any:
    # Newer releases of PyJWT refuse a `sub` that is a number: `claims.subject` decides.
    return {"require": [*required], "verify_sub": False}


def _check(claims: Claims, expected: Expected) -> None:
    if not expected.is_issuer(claims):
        raise InvalidIDToken("issuer")
    if not _is_party(claims, expected.audiences):
        raise InvalidIDToken("authorized party")
    if expected.nonce is not None and not _is_nonce(claims.get("nonce"), expected.nonce):
        raise InvalidIDToken("nonce")
    if expected.max_age is not None and _is_older(claims["iat"], expected.max_age + _LEEWAY):
        raise InvalidIDToken("too old")


def _check_hash(given: Any, access_token: Secret, key: PyJWK) -> None:
    """OpenID Connect Core 1.0 section 3.1.3.8."""
    size = "512" if key.algorithm_name in ("EdDSA", "Ed25519") else key.algorithm_name[-3:]
    digest = hashlib.new(f"sha{size}", access_token.reveal().encode()).digest()
    if given != crypto.b64(digest[: len(digest) // 2]):
        raise InvalidIDToken("access token")


def _is_party(claims: Claims, audiences: Collection[str]) -> bool:
    # A token for several audiences was issued to one of them, which must be ours.
    several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    if claims.get("azp") is None:
        return not several
    return claims["azp"] in audiences


def _is_nonce(given: Any, nonce: Secret) -> bool:
    if not isinstance(given, str) or not nonce:
        return False
    # Apple's and Google's libraries for apps put the SHA-256 of the nonce into the request.
    hashed = Secret(hashlib.sha256(nonce.reveal().encode()).hexdigest())
    return Secret(given) == nonce or Secret(given.lower()) == hashed


def _is_older(issued_at: Any, age: timedelta) -> bool:
    # PyJWT accepts the text of a number. No subtraction: an int may be too large for a float.
    if not isinstance(issued_at, int | float):
        raise InvalidIDToken("issued at")
    return issued_at < clock.timestamp() - age.total_seconds()
