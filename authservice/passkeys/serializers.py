"""The bodies of the routes of this module, and the shapes of their responses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypedDict

from rest_framework import serializers

from authservice.kernel.http.envelope import utc
from authservice.kernel.http.fields import Flag, JsonObject, SecretText, Text
from authservice.kernel.http.operations import Moment
from authservice.passkeys.challenges import CreationOptions, RequestOptions
from authservice.passkeys.models import NAME_LENGTH, Passkey

_TOKEN_LENGTH = 512
_CREATED = ("clientDataJSON", "attestationObject")
_SIGNED = ("clientDataJSON", "authenticatorData", "signature")


def _described(names: tuple[str, ...]) -> Mapping[str, Any]:
    """The JSON schema of what `credential.toJSON()` of a browser returns, with these names in
    `response`."""
    text = {"type": "string"}
    response = {
        "type": "object",
        "required": list(names),
        "properties": dict.fromkeys(names, text),
    }
    return {
        "type": "object",
        "required": ["id", "rawId", "type", "response"],
        "properties": {"id": text, "rawId": text, "type": text, "response": response},
    }


class NewCredential(JsonObject):
    """A passkey that the browser has created."""

    described: ClassVar[Mapping[str, Any]] = _described(_CREATED)


class SignedCredential(JsonObject):
    """The answer of a passkey to a challenge."""

    described: ClassVar[Mapping[str, Any]] = _described(_SIGNED)


class OptionsIn(serializers.Serializer[Any]):
    conditional = Flag(required=False, default=False)
    second_factor = Flag(required=False, default=False)


class AddIn(serializers.Serializer[Any]):
    request_token = SecretText(max_length=_TOKEN_LENGTH)
    credential = NewCredential()
    name = Text(max_length=NAME_LENGTH, required=False, allow_blank=True, default="")
    second_factor = Flag(required=False, default=False)


class ChangeIn(serializers.Serializer[Any]):
    null_omits = True

    name = Text(max_length=NAME_LENGTH, required=False)
    second_factor = Flag(required=False)


class LoginIn(serializers.Serializer[Any]):
    request_token = SecretText(max_length=_TOKEN_LENGTH)
    credential = SignedCredential()


class PasskeyOptions(TypedDict):
    """Options to create a passkey, and the token to send back with it; valid for five minutes
    unless the service sets another time."""

    options: CreationOptions
    request_token: str


class PasskeyLoginOptions(TypedDict):
    """Options to log in with a passkey, and the token to send back with the answer; valid for five
    minutes unless the service sets another time."""

    options: RequestOptions
    request_token: str


class OwnPasskey(TypedDict):
    """A passkey of the user. `verifies`: it logs in alone; otherwise it is asked for only after the
    password. `second_factor`: it is asked for after the password too. `backed_up`: a copy exists,
    as in the account of a phone. `aaguid` names the model or the password manager."""

    id: str
    name: str
    second_factor: bool
    verifies: bool
    attested: bool
    backup_eligible: bool
    backed_up: bool
    aaguid: str
    transports: list[str]
    created_at: Moment
    last_used_at: Moment | None


class PasskeySignals(TypedDict):
    """What the browser needs to remove passkeys that no longer exist and to rename the account in
    its dialogues; `user_id` is empty if the user never had a passkey."""

    rp_id: str
    user_id: str
    all_accepted_credential_ids: list[str]
    name: str
    display_name: str


def shown(passkey: Passkey) -> OwnPasskey:
    return {
        "id": str(passkey.pk),
        "name": passkey.name,
        "second_factor": passkey.second_factor,
        "verifies": passkey.verifies,
        "attested": passkey.attested,
        "backup_eligible": passkey.backup_eligible,
        "backed_up": passkey.backed_up,
        "aaguid": str(passkey.aaguid),
        "transports": passkey.transports.split(),
        "created_at": utc(passkey.created_at),
        "last_used_at": utc(passkey.last_used_at),
    }
