"""Challenges, the random values that passkeys sign, and the options in which a page passes a
challenge to the browser.

A challenge works once, and only for the purpose that it was issued for: a login, or an enrolment in
one session. Issuing it stores no row: the client gets a signed `request_token` that contains the
challenge, and sends it back with the answer. `use_up` then stores the digest of the challenge,
whose unique key accepts only one of several answers. The cleanup deletes the row when the challenge
has expired. The challenge of a second factor is derived from the temp_token of the login, which
works once.

The options are JSON (WebAuthn Level 3, section 5.1), which
`PublicKeyCredential.parseCreationOptionsFromJSON` and `parseRequestOptionsFromJSON` read. Values of
enumerations are plain strings, as in WebAuthn, where browsers ignore unknown values.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NotRequired, TypedDict

from django.core import signing

from authservice.core.models import OneTimeToken, Session
from authservice.core.users.person import Person
from authservice.kernel import clock, databases, secret
from authservice.kernel.secret import Secret
from authservice.kernel.sql import InsertUnlessStored
from authservice.passkeys import relying_party
from authservice.passkeys.conf import conf
from authservice.passkeys.models import Passkey

_LOGIN, _ENROLMENT = "passkey-login", "passkey-enrolment"
_PURPOSE = "passkey"  # of the rows of used challenges
_BYTES = 32
_INSERT = InsertUnlessStored(lambda: OneTimeToken)

Verification = Literal["required", "preferred"]


class Expired(Exception):
    """The `request_token` is not ours, too old, or of another session."""


@dataclass(frozen=True)
class Enrolment:
    """The challenge of an enrolment in base64url, and the handle by which the authenticator will
    know the user. `conditional` says that the browser may create the passkey without asking the
    user."""

    challenge: str
    handle: str
    conditional: bool


def new() -> str:
    return secret.b64(secrets.token_bytes(_BYTES))


def of_temp_token(temp_token: Secret) -> str:
    """The challenge of a second factor, for the temp_token of a login or of a step-up."""
    # A plain digest suffices, as only the client has the temp_token, which is a secret.
    return secret.b64(bytes.fromhex(secret.fingerprint(f"{_PURPOSE}:{temp_token.reveal()}")))


def sign_login(challenge: str) -> Secret:
    return Secret(secret.timestamp_signer(_LOGIN).sign(challenge))


def read_login(request_token: Secret) -> str:
    """The challenge of a login. Raises `Expired`."""
    return _unsigned(_LOGIN, request_token)


def sign_enrolment(enrolment: Enrolment, session: Session) -> Secret:
    flag = "conditional" if enrolment.conditional else "asked"
    text = f"{enrolment.challenge}:{enrolment.handle}:{flag}:{session.pk.hex}"
    return Secret(secret.timestamp_signer(_ENROLMENT).sign(text))


def read_enrolment(request_token: Secret, session: Session) -> Enrolment:
    """The challenge of an enrolment that began in this session. Raises `Expired`."""
    challenge, handle, flag, session_id = _unsigned(_ENROLMENT, request_token).split(":")
    if session_id != session.pk.hex:
        raise Expired
    return Enrolment(challenge, handle, flag == "conditional")


@databases.inside_transaction
def use_up(challenge: str, person: Person) -> bool:
    """Use a challenge up; False if it was used before. Concurrent answers to one challenge wait
    until the first of them commits."""
    now = clock.now()
    row = OneTimeToken(
        purpose=_PURPOSE,
        # Not keyed: after a change of `SECRET_KEY` the same challenge would have another digest.
        digest=secret.fingerprint(f"{_PURPOSE}:{challenge}"),
        user_id=person.user.pk,
        created_at=now,
        spent_at=now,
        # The `request_token` of the challenge has expired by then.
        expires_at=now + conf.timeout,
    )
    return bool(_INSERT.bound(databases.primary(), row).run())


def _unsigned(purpose: str, request_token: Secret) -> str:
    try:
        return secret.timestamp_signer(purpose).unsign(request_token.reveal(), max_age=conf.timeout)
    except signing.BadSignature as error:
        raise Expired from error


class Entity(TypedDict):
    """The service: `id` is its domain."""

    id: str
    name: str


class UserEntity(TypedDict):
    """The user, as the dialogues of the browser show them; `id` is random."""

    id: str
    name: str
    displayName: str


class Parameter(TypedDict):
    """A kind of key: `alg` is a COSE algorithm."""

    type: str
    alg: int


class Descriptor(TypedDict):
    """A passkey that the user has."""

    type: str
    id: str
    transports: NotRequired[list[str]]


class Selection(TypedDict):
    """What the authenticator must be able to do."""

    residentKey: str
    requireResidentKey: bool
    userVerification: str


class Extensions(TypedDict):
    """What the browser is asked to report."""

    credProps: bool


class CreationOptions(TypedDict):
    """Options for `navigator.credentials.create`; binary values are in base64url."""

    rp: Entity
    user: UserEntity
    challenge: str
    pubKeyCredParams: list[Parameter]
    timeout: int
    excludeCredentials: list[Descriptor]
    authenticatorSelection: Selection
    attestation: str
    extensions: Extensions


class RequestOptions(TypedDict):
    """Options for `navigator.credentials.get`; binary values are in base64url."""

    challenge: str
    timeout: int
    rpId: str
    allowCredentials: list[Descriptor]
    userVerification: str


def creation(
    person: Person, handle: str, challenge: str, existing: Iterable[Passkey], *, bare: bool
) -> CreationOptions:
    """The options to create a passkey. With `bare`, they also accept security keys that store no
    passkey or do not verify their user, which is enough for a second factor."""
    return {
        "rp": {"id": relying_party.domain(), "name": relying_party.name()},
        "user": {"id": handle, "name": account_name(person), "displayName": display_name(person)},
        "challenge": challenge,
        "pubKeyCredParams": [
            {"type": "public-key", "alg": number} for number in relying_party.ALGORITHMS
        ],
        "timeout": _milliseconds(),
        "excludeCredentials": [_descriptor(passkey) for passkey in existing],
        "authenticatorSelection": {
            "residentKey": "preferred" if bare else "required",
            "requireResidentKey": not bare,
            "userVerification": "preferred" if bare else "required",
        },
        "attestation": conf.attestation,
        "extensions": {"credProps": True},
    }


def request(
    challenge: str, allowed: Iterable[Passkey], verification: Verification
) -> RequestOptions:
    """The options to sign with a passkey. If `allowed` is empty, the browser offers all passkeys
    that it knows for this service."""
    return {
        "challenge": challenge,
        "timeout": _milliseconds(),
        "rpId": relying_party.domain(),
        "allowCredentials": [_descriptor(passkey) for passkey in allowed],
        "userVerification": verification,
    }


def account_name(person: Person) -> str:
    """What the browser shows to tell accounts apart."""
    return person.email or person.username or person.account_row.phone_number or person.id


def display_name(person: Person) -> str:
    full = f"{person.first_name} {person.last_name}".strip()
    return person.account_row.name or full or account_name(person)


def _descriptor(passkey: Passkey) -> Descriptor:
    descriptor: Descriptor = {"type": "public-key", "id": passkey.credential_id}
    if passkey.transports:
        descriptor["transports"] = passkey.transports.split()
    return descriptor


def _milliseconds() -> int:
    return int(conf.timeout.total_seconds() * 1000)
