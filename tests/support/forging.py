"""Create JSON Web Tokens byte by byte, since libraries refuse to create invalid ones."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from typing import Any

import jwt

from authservice.core.tokens.signing import Key, ring

Signer = Callable[[bytes], bytes]


def b64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def unb64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def header(token: str) -> dict[str, Any]:
    return json.loads(unb64(token.split(".")[0]))


def claims(token: str) -> dict[str, Any]:
    return json.loads(unb64(token.split(".")[1]))


def hs256(secret: bytes) -> Signer:
    return lambda message: hmac.digest(secret, message, "sha256")


def hs512(secret: bytes) -> Signer:
    return lambda message: hmac.new(secret, message, hashlib.sha512).digest()


def ours() -> Signer:
    """Sign with the key of the service: only the content of the token differs from a real one."""
    key: Key = ring().active
    if key.alg == "HS256":
        return hs256(key.signing)
    return lambda message: jwt.get_algorithm_by_name(key.alg).sign(message, key.signing)


def compact(head: Any, body: Any, signer: Signer) -> str:
    """`head` and `body` are JSON-serialisable, or bytes that are encoded unchanged."""
    parts = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in (head, body)]
    message = ".".join(map(b64, parts))
    return f"{message}.{b64(signer(message.encode()))}"


def changed(token: str, *, head: Any = None, body: Any = None, signer: Signer | None = None) -> str:
    """`token` with changes to its header and claims, signed again; the value `...` removes a
    claim."""
    new = [
        {name: value for name, value in {**old, **(change or {})}.items() if value is not ...}
        for old, change in ((header(token), head), (claims(token), body))
    ]
    return compact(*new, signer or ours())
