"""Proof Key for Code Exchange (RFC 7636), with S256 alone: "plain" shows the verifier."""

from __future__ import annotations

import hashlib

from authservice.kernel.crypto import b64
from authservice.kernel.secret import Secret


def challenge(verifier: Secret) -> dict[str, str]:
    """The parameters of the authorization request for this verifier."""
    digest = hashlib.sha256(verifier.reveal().encode("ascii")).digest()
    return {"code_challenge": b64(digest), "code_challenge_method": "S256"}
