"""Two verifiers of what a browser signed: this service, and the server of `fido2`.

Both accept each answer, and refuse it once it is changed in one place. A new passkey is not signed
by anybody, so a change of it that `fido2` does not look for is refused by this service alone; all
of those are in `test_second_verifier.py`.
"""

import hashlib
import json
import re

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from fido2 import cbor
from fido2.cose import ES256
from fido2.server import Fido2Server
from fido2.utils import websafe_decode, websafe_encode
from fido2.webauthn import AttestedCredentialData, PublicKeyCredentialRpEntity

from authservice.passkeys import relying_party
from tests.passkeys.authenticator import AT, BE, BS, UP, UV

CLIENT, SIGNED, CREATED, SIGNATURE = (
    *("clientDataJSON", "authenticatorData"),
    *("attestationObject", "signature"),
)
PARTS = {"create": (CLIENT, CREATED), "get": (CLIENT, SIGNED, SIGNATURE)}
_FLAGS, _COUNTER, _FIXED, _BEFORE_ID = 32, slice(33, 37), 37, 18


class Verifiers:
    """This service and the server of `fido2`, who get each answer of the browser."""

    def __init__(self, rp_id, *origins):
        entity = PublicKeyCredentialRpEntity(id=rp_id, name="Test")
        self.server = Fido2Server(entity, verify_origin=lambda one: one in origins)
        self.keys = {}

    def agree(self, made):
        """Returns the names of the changes that were tried."""
        tried = set()
        for one in made:
            kind, answer = one["kind"], one["answer"]
            challenge, asked = self.challenge_of(answer), verification_of(kind, answer)
            assert self.both(kind, answer, challenge, asked) == (True, True), one
            for name, (part, change) in CHANGES.items():
                # A new passkey has its data twice; only those of its statement count.
                if part not in PARTS[kind]:
                    continue
                altered = changed(answer, part, change)
                if altered == answer:  # a device without verification cannot lose it
                    assert name.startswith("verification"), name
                    continue
                tried.add((kind, name))
                alone = kind == "create" and name in ONLY_WE_REFUSE
                assert self.both(kind, altered, challenge, asked) == (False, alone), (name, one)
            other = websafe_encode(b"x" * 32)
            assert self.both(kind, answer, other, asked) == (False, False), one
            if kind == "get":
                key, self.keys[answer["id"]] = self.keys[answer["id"]], other_key(answer)
                assert self.both(kind, answer, challenge, asked) == (False, False), one
                self.keys[answer["id"]] = key
        return tried

    def challenge_of(self, answer):
        return json.loads(websafe_decode(answer["response"]["clientDataJSON"]))["challenge"]

    def both(self, kind, answer, challenge, asked):
        return self.ours(kind, answer, challenge, asked), self.theirs(
            kind, answer, challenge, asked
        )

    def ours(self, kind, answer, challenge, asked):
        try:
            if kind == "create":
                return relying_party.registration(answer, challenge).verified or asked != "required"
            key = websafe_encode(self.keys[answer["id"]].public_key_bytes)
            relying_party.assertion(answer, challenge, key, verification=asked)
        except relying_party.Unverified:
            return False
        return True

    def theirs(self, kind, answer, challenge, asked):
        state = {"challenge": challenge, "user_verification": asked}
        try:
            if kind == "create":
                data = self.server.register_complete(state, response=answer)
                self.keys.setdefault(answer["id"], Key(data.credential_data))
            else:
                known = [self.keys[answer["id"]].data]
                self.server.authenticate_complete(state, known, response=answer)
        except (ValueError, KeyError, TypeError, InvalidSignature):
            return False
        return True


class Key:
    def __init__(self, data):
        self.data = data
        self.public_key_bytes = cbor.encode(dict(data.public_key))


def other_key(answer):
    """A key that did not sign, below the id of the one that did."""
    public = ec.generate_private_key(ec.SECP256R1()).public_key()
    raw, cose = websafe_decode(answer["id"]), ES256.from_cryptography_key(public)
    return Key(AttestedCredentialData.create(bytes(16), raw, cose))


def verification_of(kind, answer):
    """A device that verified its user must do so again; one that did not may go on without."""
    raw = websafe_decode(answer["response"][CREATED if kind == "create" else SIGNED])
    data = cbor.decode(raw)["authData"] if kind == "create" else raw
    return "required" if data[_FLAGS] & UV else "preferred"


def flip(raw, at):
    return raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :]


def changed(answer, name, change):
    raw = change(websafe_decode(answer["response"][name]))
    return {**answer, "response": {**answer["response"], name: websafe_encode(raw)}}


def elsewhere(data):
    return hashlib.sha256(b"evil.test").digest() + data[_FLAGS:]


def with_flags(change):
    return lambda raw: raw[:_FLAGS] + bytes([change(raw[_FLAGS])]) + raw[_FLAGS + 1 :]


def within(change):
    """The same change of the authenticator data of a new passkey."""

    def make(raw):
        read = cbor.decode(raw)
        return cbor.encode({**read, "authData": change(read["authData"])})

    return make


def with_key(change):
    """Another COSE key in a new passkey: `change` gets its members and returns CBOR."""

    def make(data):
        start = _FIXED + _BEFORE_ID + int.from_bytes(data[_FIXED + 16 : _FIXED + 18], "big")
        key, rest = cbor.decode_from(data[start:])
        return data[:start] + change(key) + rest

    return within(make)


def twice(name, value):
    """CBOR in which one more pair comes first, whose name is there again."""
    return lambda raw: bytes([raw[0] + 1]) + cbor.encode(name) + cbor.encode(value) + raw[1:]


def trailing(raw):
    return raw + b"\x00"


def unverified(flags):
    return flags & ~UV


def backed_up_only(flags):
    return flags & ~BE | BS


def counted_on(raw):
    counter = int.from_bytes(raw[_COUNTER], "big") + 1
    return raw[: _COUNTER.start] + counter.to_bytes(4, "big") + raw[_COUNTER.stop :]


# By the part of the answer that is changed; one that it does not have is left out.
CHANGES = {
    "type": (CLIENT, lambda raw: raw.replace(b"webauthn.", b"webauthx.")),
    "origin": (CLIENT, lambda raw: re.sub(rb"(https?://)[^:\"]+", rb"\1evil.test", raw)),
    "no JSON": (CLIENT, lambda raw: raw[:-1]),
    "frame": (CLIENT, lambda raw: re.sub(rb'("crossOrigin": ?)false', rb"\1true", raw)),
    "duplicate JSON keys": (CLIENT, lambda raw: b'{"challenge":"d3Jvbmc",' + raw[1:]),
    "domain of a signature": (SIGNED, elsewhere),
    "presence": (SIGNED, with_flags(lambda flags: flags ^ UP)),
    "verification": (SIGNED, with_flags(unverified)),
    "eligible for a backup": (SIGNED, with_flags(lambda flags: flags ^ BE)),
    "backed up": (SIGNED, with_flags(lambda flags: flags ^ BS)),
    "counter": (SIGNED, counted_on),
    "cut off": (SIGNED, lambda raw: raw[:-1]),
    "bytes after a signature's data": (SIGNED, trailing),
    "signature": (SIGNATURE, lambda raw: flip(raw, -1)),
    "domain of a new passkey": (CREATED, within(elsewhere)),
    "presence at a new passkey": (CREATED, within(with_flags(lambda flags: flags ^ UP))),
    "verification at a new passkey": (CREATED, within(with_flags(unverified))),
    "no key in a new passkey": (CREATED, within(with_flags(lambda flags: flags ^ AT))),
    "backed up but not eligible": (CREATED, within(with_flags(backed_up_only))),
    "algorithm": (CREATED, with_key(lambda key: cbor.encode({**key, 3: -65535}))),
    "short key": (CREATED, with_key(lambda key: cbor.encode({**key, -2: key[-2][:-1]}))),
    "duplicate keys of the key": (
        CREATED,
        with_key(lambda key: twice(1, 3)(cbor.encode(dict(key)))),
    ),
    "duplicate CBOR keys": (CREATED, twice("fmt", "packed")),
    "bytes after the key": (CREATED, within(trailing)),
    "bytes after a new passkey": (CREATED, trailing),
    "no CBOR": (CREATED, lambda raw: raw[:40]),
}
# In a new passkey; the signature of an answer includes these too. The reasons are those of the
# table in `test_second_verifier.py`.
ONLY_WE_REFUSE = {
    "frame": "fido2 leaves it to its callers",
    "duplicate JSON keys": "fido2 takes the last of two equal keys",
    "backed up but not eligible": "fido2 does not look at it",
    "algorithm": "fido2 leaves it to its callers",
    "short key": "fido2 notices at the first login",
    "duplicate keys of the key": "fido2 takes the last of two equal keys",
    "duplicate CBOR keys": "fido2 takes the last of two equal keys",
}
