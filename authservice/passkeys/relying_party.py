"""The relying party of WebAuthn: its name, the domain that passkeys are bound to, the origins that
may use them, and the checks of what authenticators answer (WebAuthn Level 3, 7.1 and 7.2).

Name, domain and origins come from the settings, never from the header `Host`: an attacker who could
choose the domain could have a user sign for another service.

Only this module uses the package `webauthn`, which checks the structures and signatures. Where the
package is lenient, this module checks strictly first, since most attacks begin with a text that two
programs read in two ways. It requires base64url in its one form, JSON without duplicate keys, CBOR
without bytes after its end, no frames of other sites, and keys whose parts fit their algorithm. It
reads answers that another package has stored as strictly.

`webauthn` and `cbor2` are imported at the first answer, as PyJWT is in `signing.py`: they load
X.509 and ASN.1, several megabytes that a worker without passkeys does not need.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from django.conf import settings

from authservice.kernel import secret
from authservice.kernel.origins import is_loopback, normal, parts_of
from authservice.kernel.sections import frontend, root
from authservice.passkeys.conf import ID_LENGTH, KEY_LENGTH, conf, is_domain

# Where browsers look for further origins, on the host that is the domain.
WELL_KNOWN = ".well-known/webauthn"
_LOCAL = "localhost"
# COSE algorithms in the order of preference: EdDSA, ES256, RS256. All platforms have one of them.
EDDSA, ES256, RS256 = -8, -7, -257
ALGORITHMS = (EDDSA, ES256, RS256)
TRANSPORTS = ("ble", "hybrid", "internal", "nfc", "smart-card", "usb")
_CREATE, _GET = "webauthn.create", "webauthn.get"
_TYPE = "public-key"
# Labels in a COSE key (RFC 9053): its type, its algorithm, and its curve if it has one.
_KTY, _ALG, _CURVE = 1, 3, -1
# The type and the curve of the keys of each algorithm.
_FITTING: Mapping[int, tuple[int, int | None]] = {EDDSA: (1, 6), ES256: (2, 1), RS256: (3, None)}
_RSA_N, _RSA_E = -1, -2
_RSA_BYTES = (256, 512)  # 2,048 to 4,096 bits
_RSA_EXPONENT_BYTES = 4
# Authenticator data: 32 bytes of the domain's hash, flags, 4 bytes of the counter; then, if the
# flags say so, 16 bytes of the AAGUID and 2 of the id's length, the id, the key, and extensions.
# Further flags: 0x04 the user was verified, 0x08 can be backed up, 0x10 is backed up.
_FLAGS, _FIXED, _BEFORE_ID = 32, 37, 18
_ID_LENGTH = slice(_FIXED + _BEFORE_ID - 2, _FIXED + _BEFORE_ID)
_HAS_KEY, _HAS_EXTENSIONS = 0x40, 0x80
_DEEPEST = 16  # levels of nested CBOR


class Unverified(Exception):
    """The answer is not accepted. The reason is for tests and never for clients."""


class OfOtherDomain(Unverified):
    """A stored passkey is bound to another domain."""


@dataclass(frozen=True)
class NewPasskey:
    """What an authenticator has created. `statement` is the attestation object, and
    `client_data` the hash that it signs, for `attestation`."""

    credential_id: str
    public_key: str
    counter: int
    aaguid: UUID
    backup_eligible: bool
    backed_up: bool
    verified: bool
    transports: str
    statement: bytes = field(repr=False)
    client_data: bytes = field(repr=False)


@dataclass(frozen=True)
class Assertion:
    """A verified signature. `verified` says that the device verified its user."""

    counter: int
    backup_eligible: bool
    backed_up: bool
    verified: bool


def domain() -> str:
    """The RP ID; "" if the settings name none."""
    if conf.rp_id:
        return conf.rp_id
    host = parts_of(frontend.url or root.api_url).hostname or ""
    # If the settings name no host, the host in development is this machine.
    if is_loopback(host) if host else settings.DEBUG:
        return _LOCAL
    # Browsers know no passkeys of an IP address.
    return host if is_domain(host) else ""


def name() -> str:
    return conf.rp_name or domain()


def origins() -> tuple[str, ...]:
    """The origins of pages and apps that may use the passkeys of this service."""
    if conf.origins:
        return conf.origins
    candidates = (normal(url) for url in (frontend.url, root.api_url))
    return tuple(dict.fromkeys(origin for origin in candidates if origin and is_within(origin)))


def is_allowed(origin: str) -> bool:
    """Whether a client of this origin may use passkeys. In development, any port of this machine
    is allowed if no origin is configured."""
    if origin in origins():
        return True
    if not (settings.DEBUG and is_local()):
        return False
    return origin == normal(origin) and is_loopback(parts_of(origin).hostname)


def is_local() -> bool:
    """Whether the service is one of this machine, with no other origin configured."""
    return domain() == _LOCAL and not conf.origins


def is_within(origin: str) -> bool:
    """Whether browsers let a page of this web origin use the RP ID without the file of related
    origins: its host is the domain or below it."""
    host = parts_of(origin).hostname or ""
    return bool(domain()) and f".{host}".endswith(f".{domain()}")


def is_secure(origin: str) -> bool:
    """Whether browsers offer WebAuthn to pages of this origin: only over https or locally."""
    parts = parts_of(origin)
    return parts.scheme != "http" or is_loopback(parts.hostname)


def id_of(credential: Mapping[str, Any]) -> str:
    """The id of a credential in base64url. Raises `Unverified`."""
    credential_id = _text(credential, "id")
    if (
        not credential_id
        or len(credential_id) > ID_LENGTH
        or _text(credential, "rawId") != credential_id
    ):
        raise Unverified("id")
    _octets(credential_id)  # refuses what is not base64url in its one form
    if credential.get("type") != _TYPE:
        raise Unverified("type")
    return credential_id


def handle_of(credential: Mapping[str, Any]) -> str | None:
    """The user handle of an assertion in base64url; None without one. Raises `Unverified`."""
    response = _response(credential)
    return None if response.get("userHandle") is None else _text(response, "userHandle")


def registration(
    credential: Mapping[str, Any], challenge: str, *, require_presence: bool = True
) -> NewPasskey:
    """Check a new passkey. `require_presence` is False for a passkey that the browser may have
    created without a dialogue, so that nobody had to be present. The attestation is not checked.
    Raises `Unverified`."""
    import cbor2
    from webauthn import verify_registration_response
    from webauthn.helpers.cose import COSEAlgorithmIdentifier

    response = _response(credential)
    client_data = _client_data(response, _CREATE, challenge)
    statement = _octets(_text(response, "attestationObject"))
    authenticator_data = _attested(statement)
    cose_key, raw_key = _require_plain(authenticator_data, id_of(credential))
    _require_fitting(cose_key)
    # The attestation statement is left out: its formats are the largest part of what an attacker
    # could send, and nobody relies on it unless `ATTESTATION` requires one. Then the module
    # `attestation` checks it.
    accepted = {"fmt": "none", "attStmt": {}, "authData": authenticator_data}
    cleaned = {
        **_envelope(credential),
        "response": {
            "clientDataJSON": _text(response, "clientDataJSON"),
            "attestationObject": secret.b64(cbor2.dumps(accepted)),
        },
    }
    try:
        verified = verify_registration_response(
            credential=cleaned,
            expected_challenge=_octets(challenge),
            expected_rp_id=domain(),
            expected_origin=_origin(client_data),
            require_user_presence=require_presence,
            supported_pub_key_algs=[COSEAlgorithmIdentifier(number) for number in ALGORITHMS],
        )
        _require_loadable(raw_key)
    except Exception as error:  # the package raises many kinds, also built-in ones
        raise Unverified(type(error).__name__) from error
    flags = authenticator_data[_FLAGS]
    return NewPasskey(
        credential_id=id_of(credential),
        public_key=secret.b64(raw_key),
        counter=verified.sign_count,
        aaguid=UUID(verified.aaguid),
        backup_eligible=bool(flags & 0x08),
        backed_up=verified.credential_backed_up,
        verified=verified.user_verified,
        transports=_transports(response),
        statement=statement,
        client_data=bytes.fromhex(secret.fingerprint(client_data.decode())),  # its SHA-256
    )


def stored_registration(statement: bytes, transports: Any) -> NewPasskey:
    """The passkey in an attestation object that another package has checked and stored; it is read
    as strictly as a new one. Raises `OfOtherDomain`, and `Unverified` for every other reason."""
    authenticator_data = _attested(statement)
    length = int.from_bytes(authenticator_data[_ID_LENGTH], "big")
    start = _FIXED + _BEFORE_ID
    credential_id = secret.b64(authenticator_data[start : start + length])
    if not credential_id or len(credential_id) > ID_LENGTH:
        raise Unverified("id")
    cose_key, raw_key = _require_plain(authenticator_data, credential_id)
    _require_fitting(cose_key)
    try:
        _require_loadable(raw_key)
    except Exception as error:  # as in `registration`
        raise Unverified(type(error).__name__) from error
    if authenticator_data[:_FLAGS].hex() != secret.fingerprint(domain()):
        raise OfOtherDomain("RP ID")
    flags = authenticator_data[_FLAGS]
    return NewPasskey(
        credential_id=credential_id,
        public_key=secret.b64(raw_key),
        counter=int.from_bytes(authenticator_data[_FLAGS + 1 : _FIXED], "big"),
        aaguid=UUID(bytes=authenticator_data[_FIXED : _FIXED + 16]),
        backup_eligible=bool(flags & 0x08),
        backed_up=bool(flags & 0x10),
        verified=bool(flags & 0x04),
        transports=_transports({"transports": transports}),
        statement=statement,
        client_data=b"",
    )


def assertion(
    credential: Mapping[str, Any],
    challenge: str,
    public_key: str,
    *,
    verification: Literal["required", "preferred"],
) -> Assertion:
    """Check a signature by the passkey with this public key. Its counter is not compared. Raises
    `Unverified`."""
    from webauthn import verify_authentication_response

    response = _response(credential)
    client_data = _client_data(response, _GET, challenge)
    authenticator_data = _octets(_text(response, "authenticatorData"))
    _require_plain(authenticator_data, "")
    names = ("clientDataJSON", "authenticatorData", "signature")
    cleaned = {
        **_envelope(credential),
        "response": {name: _text(response, name) for name in names},
    }
    _octets(cleaned["response"]["signature"])  # as in `id_of`; the package decodes leniently
    try:
        verified = verify_authentication_response(
            credential=cleaned,
            expected_challenge=_octets(challenge),
            expected_rp_id=domain(),
            expected_origin=_origin(client_data),
            credential_public_key=_octets(public_key),
            credential_current_sign_count=-1,  # below every counter, so none is refused
            require_user_verification=verification == "required",
        )
    except Exception as error:  # as in `registration`
        raise Unverified(type(error).__name__) from error
    return Assertion(
        counter=verified.new_sign_count,
        backup_eligible=bool(authenticator_data[_FLAGS] & 0x08),
        backed_up=verified.credential_backed_up,
        verified=verified.user_verified,
    )


def _envelope(credential: Mapping[str, Any]) -> dict[str, Any]:
    credential_id = id_of(credential)
    return {"id": credential_id, "rawId": credential_id, "type": _TYPE}


def _response(credential: Mapping[str, Any]) -> Mapping[str, Any]:
    response = credential.get("response")
    if not isinstance(response, dict):
        raise Unverified("response")
    return response


def _text(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name)
    if not isinstance(value, str):
        raise Unverified(name)
    return value


def _octets(text: str) -> bytes:
    try:
        return secret.unb64(text)
    except secret.Unreadable as error:
        raise Unverified("base64url") from error


def _client_data(response: Mapping[str, Any], kind: str, challenge: str) -> bytes:
    """What the browser says about the request, in bytes (section 5.8.1)."""
    raw = _octets(_text(response, "clientDataJSON"))
    try:
        data = json.loads(raw.decode("utf-8"), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise Unverified("clientDataJSON") from error
    if not isinstance(data, dict) or (data.get("type"), data.get("challenge")) != (kind, challenge):
        raise Unverified("type or challenge")
    # Refused inside a frame of another site: its page could lay itself over the frame.
    if data.get("crossOrigin", False) is not False or "topOrigin" in data:
        raise Unverified("crossOrigin")
    if not is_allowed(_text(data, "origin")):
        raise Unverified("origin")
    return raw


def _origin(client_data: bytes) -> str:
    """The origin in client data, which `_client_data` has compared with those of the settings."""
    return str(json.loads(client_data)["origin"])


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("duplicate keys")
    return values


def _attested(statement: bytes) -> bytes:
    """The authenticator data in an attestation object."""
    decoded, end = _decoded(statement)
    if end != len(statement) or not isinstance(decoded, dict):
        raise Unverified("attestationObject")
    if set(decoded) != {"fmt", "attStmt", "authData"} or not isinstance(decoded["authData"], bytes):
        raise Unverified("attestationObject")
    return decoded["authData"]


def _require_plain(authenticator_data: bytes, credential_id: str) -> tuple[dict[Any, Any], bytes]:
    """The public key in authenticator data: decoded, and its bytes. Both are empty for an
    assertion, where `credential_id` is "". Refuses bytes after the last part."""
    if len(authenticator_data) < _FIXED:
        raise Unverified("authenticatorData")
    flags, rest = authenticator_data[_FLAGS], authenticator_data[_FIXED:]
    cose_key: Any = {}
    raw_key = b""
    if bool(flags & _HAS_KEY) is not bool(credential_id):
        raise Unverified("attested credential data")
    if flags & _HAS_KEY:
        length = int.from_bytes(rest[_BEFORE_ID - 2 : _BEFORE_ID], "big")
        raw_id, rest = rest[_BEFORE_ID : _BEFORE_ID + length], rest[_BEFORE_ID + length :]
        if len(raw_id) != length or secret.b64(raw_id) != credential_id:
            raise Unverified("credential id")
        cose_key, end = _decoded(rest)
        raw_key, rest = rest[:end], rest[end:]
        if not isinstance(cose_key, dict) or len(secret.b64(raw_key)) > KEY_LENGTH:
            raise Unverified("public key")
    if flags & _HAS_EXTENSIONS:
        extensions, end = _decoded(rest)
        rest = rest[end:]
        if not isinstance(extensions, dict):
            raise Unverified("extensions")
    if rest:
        raise Unverified("bytes after the authenticator data")
    return cose_key, raw_key


def _require_fitting(cose_key: Mapping[Any, Any]) -> None:
    """The type and curve of a key must be those of its algorithm. The size of an RSA key must be
    neither weak nor slow to verify."""
    algorithm = cose_key.get(_ALG)
    if type(algorithm) is not int or algorithm not in _FITTING:
        raise Unverified("algorithm")
    kind, curve = _FITTING[algorithm]
    if cose_key.get(_KTY) != kind or (curve is not None and cose_key.get(_CURVE) != curve):
        raise Unverified("key of another algorithm")
    if algorithm == RS256:
        modulus, exponent = cose_key.get(_RSA_N), cose_key.get(_RSA_E)
        if not isinstance(modulus, bytes) or not isinstance(exponent, bytes):
            raise Unverified("RSA key")
        least, most = _RSA_BYTES
        if not least <= len(modulus) <= most or len(exponent) > _RSA_EXPONENT_BYTES:
            raise Unverified("size of the RSA key")
        if not modulus[0] & 0x80:  # the number would be shorter than its bytes
            raise Unverified("size of the RSA key")


def _require_loadable(raw_key: bytes) -> None:
    """A key that cannot be loaded, such as a point that is not on its curve, could be stored but
    never verify anything."""
    from webauthn.helpers import decode_credential_public_key, decoded_public_key_to_cryptography

    decoded_public_key_to_cryptography(decode_credential_public_key(raw_key))


class _NoTags(dict[int, Any]):
    """Refuses every CBOR tag. Authenticators send none (CTAP 2.1 section 8), and a tagged number of
    many digits would take the decoder half a second, before any signature is checked."""

    def __missing__(self, tag: int) -> Any:
        raise Unverified("CBOR tag")


def _decoded(raw: bytes) -> tuple[Any, int]:
    """The first CBOR value, and where it ends."""
    import cbor2

    stream = io.BytesIO(raw)
    try:
        value = cbor2.CBORDecoder(
            stream, allow_duplicate_keys=False, max_depth=_DEEPEST, semantic_decoders=_NoTags()
        ).decode()
    except Exception as error:  # as in `registration`
        raise Unverified("CBOR") from error
    return value, stream.tell()


def _transports(response: Mapping[str, Any]) -> str:
    """How the authenticator can be reached, as the browser reports it: only hints for its
    dialogues."""
    hints = response.get("transports")
    names = {text for text in hints if isinstance(text, str)} if isinstance(hints, list) else set()
    return " ".join(name for name in TRANSPORTS if name in names)
