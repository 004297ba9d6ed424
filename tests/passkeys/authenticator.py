"""A security key in software, and the browser beside it: they sign what a page asks for.

`change` may change each part of an answer before it is signed, as an attacker could who has the
device but not the session, and parts of the finished answer are plain values that a test replaces.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from fido2 import cbor
from fido2.cose import ES256, RS256, CoseKey, EdDSA
from fido2.utils import websafe_decode, websafe_encode

ORIGIN = "http://testserver"
UP, UV, BE, BS, AT, ED = 1, 4, 8, 16, 64, 128
ZERO = bytes(16)
_RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)


def private_key(algorithm: str) -> Any:
    if algorithm == "ES256":
        return ec.generate_private_key(ec.SECP256R1())
    return _RSA if algorithm == "RS256" else ed25519.Ed25519PrivateKey.generate()


_KINDS: dict[str, type[CoseKey]] = {"ES256": ES256, "RS256": RS256, "EdDSA": EdDSA}


@dataclass
class Credential:
    """One passkey on the device."""

    id: bytes
    key: Any
    algorithm: str
    handle: str = ""
    counter: int = 0

    @property
    def cose(self) -> dict[int, Any]:
        kind: Any = _KINDS[self.algorithm]
        return dict(kind.from_cryptography_key(self.key.public_key()))

    def sign(self, message: bytes) -> bytes:
        if self.algorithm == "ES256":
            return self.key.sign(message, ec.ECDSA(hashes.SHA256()))
        if self.algorithm == "RS256":
            return self.key.sign(message, padding.PKCS1v15(), hashes.SHA256())
        return self.key.sign(message)


@dataclass
class Authenticator:
    """`flags` are those of each answer, `step` is what a signature adds to the counter."""

    algorithm: str = "ES256"
    flags: int = UP | UV
    step: int = 1
    aaguid: bytes = ZERO
    origin: str = ORIGIN
    credentials: list[Credential] = field(default_factory=list)

    def create(
        self,
        options: dict[str, Any],
        *,
        credential: Credential | None = None,
        flags: int | None = None,
        client: dict[str, Any] | None = None,
        rp_id: str = "",
        cose: Any = None,
        tail: bytes = b"",
        counter: int | None = None,
    ) -> dict[str, Any]:
        """The answer of `navigator.credentials.create`, as `toJSON()`."""
        made = credential or Credential(
            secrets.token_bytes(32), private_key(self.algorithm), self.algorithm
        )
        made.handle = options["user"]["id"]
        self.credentials.append(made)
        client_data = self._client_data("webauthn.create", options, client)
        cose_key = cbor.encode(made.cose if cose is None else cose)
        attested = self.aaguid + len(made.id).to_bytes(2, "big") + made.id + cose_key
        raw = self._head(
            rp_id or options["rp"]["id"],
            (self.flags if flags is None else flags) | AT,
            made.counter if counter is None else counter,
        )
        statement = cbor.encode({"fmt": "none", "attStmt": {}, "authData": raw + attested + tail})
        return {
            **_envelope(made),
            "response": {
                "clientDataJSON": websafe_encode(client_data),
                "attestationObject": websafe_encode(statement),
                "transports": ["usb", "nfc"],
            },
        }

    def get(
        self,
        options: dict[str, Any],
        *,
        credential: Credential | None = None,
        flags: int | None = None,
        client: dict[str, Any] | None = None,
        rp_id: str = "",
        counter: int | None = None,
        tail: bytes = b"",
        handle: str | None = "",
    ) -> dict[str, Any]:
        """The answer of `navigator.credentials.get`, as `toJSON()`."""
        used = credential or self._chosen(options)
        used.counter += self.step
        client_data = self._client_data("webauthn.get", options, client)
        raw = self._head(
            rp_id or options["rpId"],
            self.flags if flags is None else flags,
            used.counter if counter is None else counter,
        )
        raw += tail
        signature = used.sign(raw + hashlib.sha256(client_data).digest())
        response = {
            "clientDataJSON": websafe_encode(client_data),
            "authenticatorData": websafe_encode(raw),
            "signature": websafe_encode(signature),
        }
        if handle is not None:
            response["userHandle"] = handle or used.handle
        return {**_envelope(used), "response": response}

    def _chosen(self, options: dict[str, Any]) -> Credential:
        allowed = {websafe_decode(one["id"]) for one in options["allowCredentials"]}
        return next(it for it in self.credentials if not allowed or it.id in allowed)

    def _client_data(
        self, kind: str, options: dict[str, Any], client: dict[str, Any] | None
    ) -> bytes:
        said = {"type": kind, "challenge": options["challenge"], "origin": self.origin}
        said |= {"crossOrigin": False, **(client or {})}
        return json.dumps({name: it for name, it in said.items() if it is not None}).encode()

    def _head(self, rp_id: str, flags: int, counter: int) -> bytes:
        hashed = hashlib.sha256(rp_id.encode()).digest()
        return hashed + bytes([flags]) + counter.to_bytes(4, "big")


def _envelope(credential: Credential) -> dict[str, Any]:
    text = websafe_encode(credential.id)
    return {
        "id": text,
        "rawId": text,
        "type": "public-key",
        "authenticatorAttachment": "cross-platform",
        "clientExtensionResults": {},
    }
