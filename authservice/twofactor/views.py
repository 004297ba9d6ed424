"""Routes of the second factor: the caller's own factor, and the second step of a login."""

from __future__ import annotations

import base64
from itertools import groupby
from typing import Any, TypedDict

import qrcode
from django.http import HttpResponse
from rest_framework import serializers

from authservice.core import errors
from authservice.core.api import responses
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.link_endpoint import FormEndpoint
from authservice.core.api.responses import Authenticated, Challenged, MessageResponse
from authservice.kernel.errors import (
    InvalidToken,
    ReauthenticationRequired,
    ServiceUnavailable,
    TooManyAttempts,
)
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.fields import Flag, JsonObject, Password, SecretText, TypedCode
from authservice.kernel.http.operations import Uri, operation
from authservice.kernel.languages import joined, phrase
from authservice.kernel.secret import Secret
from authservice.twofactor import enrolment, verify_login
from authservice.twofactor.enrolment import Enrolment
from authservice.twofactor.errors import (
    TwoFactorAlreadyEnabled,
    TwoFactorInvalid,
    TwoFactorNotEnabled,
)

_SCAN = phrase(
    "Scan the QR code with an authenticator app. To enable it, send the code that it shows."
)
_KEEP = phrase("Keep the backup codes in a safe place. They are not shown again.")


class CodeIn(serializers.Serializer[Any]):
    code = TypedCode()


class SetupIn(serializers.Serializer[Any]):
    # The current password as a recent proof, see `CORE.REQUIRE_RECENT_PROOF`.
    password = Password(required=False, allow_blank=True)


class TempTokenIn(serializers.Serializer[Any]):
    temp_token = SecretText(max_length=512)


class VerifyLoginIn(serializers.Serializer[Any]):
    exactly_one = ("code", "credential")

    temp_token = SecretText(max_length=512)
    code = TypedCode(required=False, allow_blank=True, default="")
    # The answer of a passkey to the options in `passkey` of the challenge.
    credential = JsonObject(required=False, default=dict)
    remember_device = Flag(required=False, default=False)


class TwoFactorSetup(TypedDict):
    """The secret for an authenticator app, as text, `otpauth` URI and QR code; shown only once."""

    secret: str
    qr_url: Uri
    qr_code: Uri
    backup_codes: list[str]
    message: str


class NewBackupCodes(TypedDict):
    """A set of backup codes; shown only once."""

    backup_codes: list[str]
    message: str


class TwoFactorStatus(TypedDict):
    """`method` is `totp` if a second factor is enabled, otherwise empty."""

    enabled: bool
    method: str
    backup_codes_remaining: int


class Setup(Endpoint):
    path = "2fa/setup"
    route = "2fa-setup"

    @operation(
        "POST",
        body=SetupIn,
        answer=TwoFactorSetup,
        faults=(
            errors.InvalidCredentials,
            ReauthenticationRequired,
            ServiceUnavailable,
            errors.StepUpRequired,
            errors.StepUpUnavailable,
            TooManyAttempts,
            TwoFactorAlreadyEnabled,
        ),
        id="setUpTwoFactor",
    )
    def set_up(self) -> HttpResponse:
        """Start setting up a second factor

        The first step to a second factor. Show `qr_code` as an image (it is a `data:` URI), or
        `secret` as text for users who cannot scan, and have the user store the backup codes. Then
        ask for the first code of the app and send it to `POST /2fa/verify`. Logins need no code
        until then.

        Secret and backup codes are shown only here; calling it again replaces them. 400
        `TWO_FACTOR_ALREADY_ENABLED`: disable the factor first. 401 `STEP_UP_REQUIRED`: a passkey is
        the second factor, so prove it first. 403 `REAUTHENTICATION_REQUIRED`:
        send `password` too, because the session began more than 10 minutes ago.
        """
        password = self.read(SetupIn).get("password", Secret(""))
        caller = self.identity
        enrolled = enrolment.set_up(caller.person, caller.session, self.client, password=password)
        return _setup(enrolled)


class Verify(Endpoint):
    path = "2fa/verify"
    route = "2fa-verify"

    @operation(
        "POST",
        body=CodeIn,
        answer=MessageResponse,
        faults=(
            errors.StepUpRequired,
            errors.StepUpUnavailable,
            TooManyAttempts,
            TwoFactorAlreadyEnabled,
            TwoFactorInvalid,
            TwoFactorNotEnabled,
        ),
        id="enableTwoFactor",
        answered="The second factor is enabled, and all other sessions have ended.",
    )
    def verify(self) -> HttpResponse:
        """Enable the second factor with its first code

        The second step: the first `code` of the app enables the factor. From now on every login
        answers with a challenge. This session stays valid; every other session of the user ends.
        The owner gets a mail.

        400 `TWO_FACTOR_INVALID`: the code is wrong; the user is still signed in, so ask again. 400
        `TWO_FACTOR_NOT_ENABLED`: `POST /2fa/setup` was not called. 429 `TOO_MANY_ATTEMPTS`: wait
        for `Retry-After`.
        """
        code = self.read(CodeIn)["code"]
        caller = self.identity
        enrolment.confirm(caller.person, caller.session, code, self.client)
        return responses.message_response(
            phrase("Two-factor authentication is enabled. All other sessions have ended.")
        )


class Disable(Endpoint):
    path = "2fa/disable"
    route = "2fa-disable"

    @operation(
        "POST",
        body=CodeIn,
        answer=MessageResponse,
        faults=(TooManyAttempts, TwoFactorInvalid, TwoFactorNotEnabled),
        id="disableTwoFactor",
        answered="The second factor and its backup codes were removed.",
    )
    def disable(self) -> HttpResponse:
        """Disable the second factor with one of its codes

        Removes the second factor and its backup codes. Send a `code` of the authenticator app, not
        a backup code. Sessions stay valid, later logins need no code, and the owner gets a mail.

        If the service requires a second factor, the next login asks the user to set up another one,
        which is the way to move to another phone. 400 `TWO_FACTOR_INVALID`: the code is wrong or
        was used. A user who lost the app asks the support.
        """
        code = self.read(CodeIn)["code"]
        caller = self.identity
        enrolment.disable(caller.person, caller.session, code, self.client)
        return responses.message_response(phrase("Two-factor authentication is disabled."))


class Status(Endpoint):
    path = "2fa/status"
    route = "2fa-status"

    @operation("GET", answer=TwoFactorStatus, id="getTwoFactorStatus")
    def read_status(self) -> HttpResponse:
        """Show whether a second factor is enabled

        Whether the signed-in user has a second factor, and how many backup codes are left. Call it
        for the page of security settings. Suggest `POST /2fa/backup-codes` when few are left.
        """
        current = enrolment.status(self.identity.person)
        status: TwoFactorStatus = {
            "enabled": current.enabled,
            "method": "totp" if current.enabled else "",
            "backup_codes_remaining": current.backup_codes_remaining,
        }
        return answer(status)


class RenewBackupCodes(Endpoint):
    path = "2fa/backup-codes"
    route = "2fa-backup-codes"

    @operation(
        "POST",
        body=CodeIn,
        answer=NewBackupCodes,
        faults=(TooManyAttempts, TwoFactorInvalid, TwoFactorNotEnabled),
        id="renewBackupCodes",
    )
    def renew(self) -> HttpResponse:
        """Replace the backup codes

        Replaces all backup codes with ten new ones. Send a `code` of the authenticator app, not a
        backup code. Show the codes once and have the user store them; the old ones are refused from
        now on. The owner gets a mail.

        400 `TWO_FACTOR_INVALID`: the code is wrong or was used; wait for the next one. 429
        `TOO_MANY_ATTEMPTS`: wait for `Retry-After`.
        """
        code = self.read(CodeIn)["code"]
        caller = self.identity
        codes = enrolment.renew_backup_codes(caller.person, caller.session, code, self.client)
        texts = [code.reveal() for code in codes]
        renewed: NewBackupCodes = {"backup_codes": texts, "message": _KEEP}
        return answer(renewed)


# A form too: the pages module asks for the code after a mailed link to log in.
class VerifyLogin(FormEndpoint):
    path = "2fa/verify-login"
    route = "2fa-verify-login"
    hidden = ("temp_token",)
    public = True

    @operation(
        "POST",
        body=VerifyLoginIn,
        answer=Authenticated | Challenged,
        faults=(
            errors.Conflict,
            errors.EmailNotVerified,
            InvalidToken,
            errors.PhoneNotVerified,
            TooManyAttempts,
            TwoFactorNotEnabled,
            errors.TwoFactorRefused,
        ),
        id="verifyLogin",
    )
    def verify(self) -> HttpResponse:
        """Complete a login with a second factor

        The second step of a login. Send `temp_token` of the challenge and `code`: six digits of the
        authenticator app, or a backup code. With `remember_device` and a code the service skips
        this step on this device for a while, if it allows that. If `methods` of the challenge has
        `passkey`, the user may use a passkey instead: call the browser with the options in
        `passkey`, and send its answer as `credential` in place of `code`.

        After `POST /2fa/setup-login` the first code of the app also enables the second factor.

        401 `TWO_FACTOR_INVALID`: the code is wrong or was used; ask again. 401 `PASSKEY_INVALID`:
        the passkey was not accepted; ask again. 401 `INVALID_TOKEN`: the `temp_token` has expired
        (after 5 minutes, or 15 for the challenge `2fa_setup`), was used, or the password has
        changed; begin again with the login. A `temp_token` allows five attempts, then the response
        is 429 `TOO_MANY_ATTEMPTS`.

        A login with a new provider links it now. If the account must not be linked any more, the
        response is the error that the callback of the provider would have, nothing is stored and
        the code stays valid.
        """
        data = self.read(VerifyLoginIn)
        self.one_of(data, *VerifyLoginIn.exactly_one)
        outcome = verify_login.verify_login(
            data["temp_token"],
            data["code"],
            self.client,
            credential=data["credential"],
            remember=data["remember_device"],
        )
        return responses.login(outcome)


class SetupLogin(Endpoint):
    path = "2fa/setup-login"
    route = "2fa-setup-login"
    public = True

    @operation(
        "POST",
        body=TempTokenIn,
        answer=TwoFactorSetup,
        faults=(InvalidToken, TwoFactorAlreadyEnabled),
        id="setUpTwoFactorToLogIn",
    )
    def set_up(self) -> HttpResponse:
        """Start setting up the second factor that a login requires

        For a login with a challenge of the type `2fa_setup`: the service requires a second factor,
        and this user has none yet. Send its `temp_token`, show `qr_code` and the backup codes, and
        ask for the first code of the app. Send that code to `POST /2fa/verify-login`, with the same
        `temp_token`, which is valid for 15 minutes.

        Calling it again replaces the secret. 401 `INVALID_TOKEN`: begin again with the login. 400
        `TWO_FACTOR_ALREADY_ENABLED`: the user has set up a factor meanwhile; log in again.
        """
        return _setup(verify_login.set_up(self.read(TempTokenIn)["temp_token"], self.client))


def _setup(enrolled: Enrolment) -> HttpResponse:
    setup: TwoFactorSetup = {
        "secret": enrolled.secret.reveal(),
        "qr_url": enrolled.uri.reveal(),
        "qr_code": qr_code(enrolled.uri.reveal()),
        "backup_codes": [code.reveal() for code in enrolled.backup_codes],
        "message": joined([_SCAN, _KEEP]),
    }
    return answer(setup)


def qr_code(text: str) -> str:
    """`text` as a QR code: an SVG in a `data:` URI, which a browser shows without a request.

    Each run of dark modules is one line. In the SVG of the library each module is a square, which
    takes four times the bytes of a response.
    """
    code = qrcode.QRCode()
    code.add_data(text)
    rows = code.get_matrix()
    lines = []
    for y, row in enumerate(rows):
        x = 0
        for is_dark, run in groupby(row):
            length = len(list(run))
            if is_dark:
                lines.append(f"M{x} {y}h{length}")
            x += length
    size = len(rows)
    # A line of the width 1 is half above its `y`, so the box begins at -.5.
    picture = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size}mm" height="{size}mm"'
        f' viewBox="0 -.5 {size} {size}" shape-rendering="crispEdges">'
        f'<path stroke="#000" d="{"".join(lines)}"/></svg>'
    )
    return f"data:image/svg+xml;base64,{base64.b64encode(picture.encode()).decode()}"
