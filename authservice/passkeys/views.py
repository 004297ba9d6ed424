"""Routes of the passkeys module: the user's own passkeys, and the login with one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypedDict

from django.http import HttpResponse
from rest_framework import serializers

from authservice.core import errors as core_errors
from authservice.core.api import responses
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.responses import Authenticated, Challenged, MessageResponse
from authservice.kernel.http.envelope import answer, utc
from authservice.kernel.http.fields import Flag, JsonObject, SecretText, Text
from authservice.kernel.http.listing import ArrayQuery, array, array_part, counted
from authservice.kernel.http.operations import Moment, operation
from authservice.kernel.languages import phrase
from authservice.passkeys import (
    challenges,
    errors,
    keys,
    own_passkeys,
    passkey_login,
    relying_party,
)
from authservice.passkeys.challenges import CreationOptions, RequestOptions
from authservice.passkeys.models import NAME_LENGTH, Passkey
from authservice.passkeys.own_passkeys import Wish

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


_STEP_UP = (core_errors.StepUpRequired, core_errors.StepUpUnavailable)


class Passkeys(Endpoint):
    path = "passkeys"
    route = "passkeys"

    @operation("GET", query=ArrayQuery, answer=counted(list[OwnPasskey]), id="listPasskeys")
    def find(self) -> HttpResponse:
        """List the passkeys

        The passkeys of the signed-in user, oldest first, for the page of security settings.
        """
        rows = keys.of(self.identity.person)
        part = array_part(self.request.GET).cut(rows)
        return array([shown(passkey) for passkey in part], len(rows))

    @operation(
        "POST",
        body=AddIn,
        answer=OwnPasskey,
        status=201,
        faults=(
            *_STEP_UP,
            errors.PasskeyExists,
            errors.PasskeyInvalid,
            errors.PasskeyLimit,
        ),
        id="addPasskey",
        answered="The passkey was added. The owner gets a mail.",
    )
    def add(self) -> HttpResponse:
        """Add a passkey

        The second step: send what `navigator.credentials.create` returned (`credential.toJSON()`)
        with the `request_token` of the options. `name` is for the user's own list. With
        `second_factor`, logins with a password ask for it too. If it is the first second factor,
        all other sessions end. The owner gets a mail.

        400 `PASSKEY_INVALID`: request new options. 409 `PASSKEY_EXISTS`: the authenticator is used
        already.
        """
        data = self.read(AddIn)
        caller = self.identity
        wish = Wish(data["name"], data["second_factor"])
        passkey = own_passkeys.add(
            caller, data["request_token"], data["credential"], wish, self.client
        )
        return answer(shown(passkey), status=201)


class Options(Endpoint):
    path = "passkeys/options"
    route = "passkey-options"

    @operation(
        "POST",
        body=OptionsIn,
        answer=PasskeyOptions,
        faults=(*_STEP_UP, errors.PasskeyLimit),
        id="startPasskey",
    )
    def begin(self) -> HttpResponse:
        """Get the options to create a passkey

        The first step to a passkey. Pass `options` to
        `PublicKeyCredential.parseCreationOptionsFromJSON` and the result to
        `navigator.credentials.create`. Then send its answer to `POST /passkeys`.

        `second_factor` also lets in security keys that do not verify their user. `conditional` is
        for `mediation: "conditional"`: the browser creates the passkey without a dialogue after the
        user has logged in with a stored password, at most five minutes ago.

        401 `STEP_UP_REQUIRED`: the login is more than ten minutes old; confirm it first.
        """
        data = self.read(OptionsIn)
        options, token = own_passkeys.begin(
            self.identity, conditional=data["conditional"], bare=data["second_factor"]
        )
        body: PasskeyOptions = {"options": options, "request_token": token.reveal()}
        return answer(body)


class OnePasskey(Endpoint):
    path = "passkeys/<str:passkey_id>"
    route = "passkey"

    @operation(
        "PUT",
        body=ChangeIn,
        answer=OwnPasskey,
        faults=(*_STEP_UP, errors.PasskeyNotFound),
        id="changePasskey",
    )
    def change(self, passkey_id: str) -> HttpResponse:
        """Rename a passkey, or use it as a second factor

        Sets `name`, and whether the passkey is asked for after the password (`second_factor`). The
        latter needs a recent login, and the owner gets a mail.

        401 `STEP_UP_REQUIRED`: the login is more than ten minutes old; confirm it first.
        """
        data = self.read(ChangeIn)
        passkey = own_passkeys.change(
            self.identity,
            passkey_id,
            self.client,
            name=data.get("name", ""),
            second_factor=data.get("second_factor"),
        )
        return answer(shown(passkey))

    @operation(
        "DELETE",
        answer=MessageResponse,
        faults=(*_STEP_UP, errors.LastLoginMethod, errors.PasskeyNotFound),
        id="removePasskey",
        answered="The passkey was removed.",
    )
    def remove(self, passkey_id: str) -> HttpResponse:
        """Remove a passkey

        Removes a passkey of the signed-in user, and mails the owner. What sessions have proven by a
        passkey no longer counts. Then call the signal API of the browser with `GET
        /passkeys/signals`, so that it no longer offers the passkey.

        400 `LAST_LOGIN_METHOD`: it is the only way to log in. 401 `STEP_UP_REQUIRED`: the login is
        more than ten minutes old; confirm it first.
        """
        own_passkeys.remove(self.identity, passkey_id, self.client)
        return responses.message_response(phrase("The passkey was removed."))


class Signals(Endpoint):
    path = "passkeys/signals"
    route = "passkey-signals"

    @operation("GET", answer=PasskeySignals, id="getPasskeySignals")
    def show(self) -> HttpResponse:
        """Show what the browser should know about the passkeys

        Values for the signal API of the browser. Call
        `PublicKeyCredential.signalAllAcceptedCredentials` and
        `PublicKeyCredential.signalCurrentUserDetails` with them after a login and after each change
        of passkeys or of the account.
        """
        person = self.identity.person
        handle, ids = own_passkeys.signals(person)
        body: PasskeySignals = {
            "rp_id": relying_party.domain(),
            "user_id": handle,
            "all_accepted_credential_ids": ids,
            "name": challenges.account_name(person),
            "display_name": challenges.display_name(person),
        }
        return answer(body)


class LoginOptions(Endpoint):
    path = "passkeys/login/options"
    route = "passkey-login-options"
    public = True

    @operation("POST", answer=PasskeyLoginOptions, id="startPasskeyLogin")
    def begin(self) -> HttpResponse:
        """Get the options to log in with a passkey

        The first step of a login with a passkey. Pass `options` to
        `PublicKeyCredential.parseRequestOptionsFromJSON` and the result to
        `navigator.credentials.get`. Then send its answer to `POST /passkeys/login`. No name is
        asked for: the browser shows the accounts that it knows. The answer is the same for
        everybody.
        """
        options, token = passkey_login.begin()
        body: PasskeyLoginOptions = {"options": options, "request_token": token.reveal()}
        return answer(body)


class Login(Endpoint):
    path = "passkeys/login"
    route = "passkey-login"
    public = True

    @operation(
        "POST",
        body=LoginIn,
        answer=Authenticated | Challenged,
        faults=(
            core_errors.Conflict,
            core_errors.EmailNotVerified,
            errors.PasskeyRefused,
            errors.PasskeyUnknown,
            core_errors.PhoneNotVerified,
            core_errors.UserNotActive,
        ),
        id="logInWithPasskey",
    )
    def log_in(self) -> HttpResponse:
        """Log in with a passkey

        The second step: send what `navigator.credentials.get` returned (`credential.toJSON()`) with
        the `request_token` of the options. The device has verified its user, so no second factor is
        asked for.

        401 `PASSKEY_UNKNOWN`: no account has this passkey; call
        `PublicKeyCredential.signalUnknownCredential`. 401 `PASSKEY_INVALID`: request new options.
        """
        data = self.read(LoginIn)
        outcome = passkey_login.log_in(data["request_token"], data["credential"], self.client)
        return responses.login(outcome, message=phrase("Logged in."))
