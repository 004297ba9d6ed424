"""Rotation of signing keys: a key is next, then active, then retired, then removed.

Each step waits until every verifier knows the result of the previous one. A key is published for a
day before it signs. After it has signed its last token, it still verifies for a day plus the
lifetime of a token. So neither a verifier with a cached key set nor a process that was not
restarted yet refuses a valid token.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from django.core.exceptions import ImproperlyConfigured

from authservice.core.tokens import signing
from authservice.kernel.sections import root
from authservice.key_file import Entry

# Every verifier knows a key that has been published for this time.
KNOWN_AFTER = timedelta(hours=24)
_RSA_BITS = 3072  # secure beyond 2030 (NIST SP 800-57 part 1, table 2)


class Refused(Exception):
    """The step is not possible; the text tells the operator why and what to do."""


def add(entries: list[Entry], alg: str, *, now: datetime) -> Entry:
    """Add a key in the state "next", or "active" if it is the first key. Raises `Refused`."""
    if next_key := _in_state(entries, "next"):
        raise Refused(f"There is already a next key, {next_key.get('kid')}: rotate first.")
    entry = new(alg, state="next" if entries else "active", now=now)
    entries.append(entry)
    return entry


def ensure_next(entries: list[Entry], alg: str, *, now: datetime) -> list[Entry]:
    """Add a next key if there is none; returns the added keys."""
    return [] if _in_state(entries, "next") else [add(entries, alg, now=now)]


def rotate(entries: list[Entry], *, now: datetime, force: bool) -> Entry:
    """Make the next key active and retire the active one; returns the new active key.

    A retired key keeps its public part only. With `force` the next key may be younger than a day.
    Raises `Refused`.
    """
    next_key = _in_state(entries, "next")
    if next_key is None:
        raise Refused("There is no next key: run `generate` first, or use `rotate --generate`.")
    if not force and (age := now - _moment(next_key, "created_at")) < KNOWN_AFTER:
        hours = int(age.total_seconds() // 3600)
        raise Refused(
            f"Key {next_key.get('kid')} is only {hours} h old, and verifiers may not know it yet: "
            "rotate when it is 24 h old, or now with --force."
        )
    active = _in_state(entries, "active")
    if active is not None:
        active.update(state="retired", retired_at=now.isoformat())
        if active.get("public_key"):
            active.pop("private_key", None)
    next_key["state"] = "active"
    return next_key


def retire(entries: list[Entry], *, now: datetime, force: bool) -> list[Entry]:
    """Remove the retired keys whose tokens have all expired, or all retired keys with `force`.
    Returns the removed keys."""
    kept_for = KNOWN_AFTER + root.access_token_ttl
    removed = [
        entry
        for entry in entries
        if entry.get("state") == "retired"
        and (force or now - _moment(entry, "retired_at") > kept_for)
    ]
    for entry in removed:
        entries.remove(entry)
    return removed


def require_valid(entries: list[Entry]) -> list[signing.Key]:
    """The parsed keys. Raises `Refused` for a file that the settings could not use."""
    try:
        return signing.parsed(entries)
    except ImproperlyConfigured as error:
        raise Refused(str(error)) from error


def new(alg: str, *, state: str, now: datetime) -> Entry:
    """A new key as an entry of `SIGNING_KEYS`."""
    private: PrivateKeyTypes
    if alg in ("EdDSA", "Ed25519"):
        private = ed25519.Ed25519PrivateKey.generate()
    elif alg == "ES256":
        private = ec.generate_private_key(ec.SECP256R1())
    else:
        private = rsa.generate_private_key(65537, _RSA_BITS)
    entry = {
        "alg": alg,
        "state": state,
        "private_key": private.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ).decode(),
        "public_key": private.public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        .decode(),
        "created_at": now.isoformat(),
    }
    # Parsed for its key id. The parser requires one active key, whatever the state of this one.
    (key,) = signing.parsed([{**entry, "state": "active"}])
    return {"kid": key.kid, **entry}


def _in_state(entries: list[Entry], state: str) -> Entry | None:
    return next((entry for entry in entries if entry.get("state") == state), None)


def _moment(entry: Entry, name: str) -> datetime:
    """The time in the field `name` of an entry. Raises `Refused`."""
    try:
        return datetime.fromisoformat(entry[name]).astimezone(UTC)
    except (KeyError, TypeError, ValueError) as error:
        example = "2030-01-31T12:00:00+00:00"
        raise Refused(f"Key {entry.get('kid')} needs a {name} such as {example}.") from error
