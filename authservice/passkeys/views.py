"""Routes of the passkeys module: the user's own passkeys, and the login with one."""

from __future__ import annotations

from django.http import HttpResponse

from authservice.core import errors as core_errors
from authservice.core.api import responses
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.responses import Authenticated, Challenged, MessageResponse
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.listing import ArrayQuery, array, array_part, counted
from authservice.kernel.http.operations import operation
from authservice.kernel.phrases import phrase
from authservice.passkeys import (
    challenges,
    errors,
    keys,
    own_passkeys,
    passkey_login,
    relying_party,
)
from authservice.passkeys.own_passkeys import Wish
from authservice.passkeys.serializers import (
    AddIn,
    ChangeIn,
    LoginIn,
    OptionsIn,
    OwnPasskey,
    PasskeyLoginOptions,
    PasskeyOptions,
    PasskeySignals,
    shown,
)

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
