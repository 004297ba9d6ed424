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

from authservice.kernel import clock, secret
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
    """What an ID token must say. `nonce` is None if the caller has another proof that the token
    belongs to the flow. `max_age` is the longest time since `iat`, None if it does not matter.
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
        # The class of the error alone: its text may repeat claims.
        raise InvalidIDToken(type(error).__name__) from None
    if not expected.is_issuer(claims):
        raise InvalidIDToken("issuer")
    # A token for several audiences was issued to one of them, which must be ours.
    has_several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    party = claims.get("azp") or None
    is_ours = not has_several if party is None else party in expected.audiences
    if not is_ours:
        raise InvalidIDToken("authorized party")
    if expected.nonce is not None and not _is_nonce(claims.get("nonce"), expected.nonce):
        raise InvalidIDToken("nonce")
    if expected.max_age is not None:
        # PyJWT also accepts a number as text. Nothing is subtracted from `iat`, since an int may be
        # too large for a float.
        if not isinstance(claims["iat"], int | float):
            raise InvalidIDToken("issued at")
        if claims["iat"] < clock.timestamp() - (expected.max_age + _LEEWAY).total_seconds():
            raise InvalidIDToken("too old")
    # `at_hash` is optional in the code flow. If it is present, it must be that of the access token,
    # with which the profile is read.
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
    # Newer releases of PyJWT refuse a `sub` that is a number. Here `claims.subject` checks it.
    return {"require": [*required], "verify_sub": False}


def _check_hash(claim: Any, access_token: Secret, key: PyJWK) -> None:
    """OpenID Connect Core 1.0 section 3.1.3.8."""
    size = "512" if key.algorithm_name in ("EdDSA", "Ed25519") else key.algorithm_name[-3:]
    digest = hashlib.new(f"sha{size}", access_token.reveal().encode()).digest()
    if claim != secret.b64(digest[: len(digest) // 2]):
        raise InvalidIDToken("access token")


def _is_nonce(claim: Any, nonce: Secret) -> bool:
    # A lone surrogate, which JSON can spell, cannot be encoded.
    if not isinstance(claim, str) or not claim.isascii() or not nonce:
        return False
    # Apple's and Google's libraries for apps put the SHA-256 of the nonce into the request.
    hashed = Secret(hashlib.sha256(nonce.reveal().encode()).hexdigest())
    return Secret(claim) == nonce or Secret(claim.lower()) == hashed
