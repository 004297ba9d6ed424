"""Routes of the second factor: the caller's own factor, and the second step of a login."""

from __future__ import annotations

from typing import TypedDict

from django.http import HttpResponse

from authservice.core.api import responses
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.link_endpoint import FormEndpoint
from authservice.core.api.responses import Authenticated, Challenged, MessageResponse
from authservice.kernel import errors
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.operations import Uri, operation
from authservice.kernel.phrases import joined, phrase
from authservice.kernel.secret import Secret
from authservice.twofactor import enrolment, qr, verify_login
from authservice.twofactor.enrolment import Enrolment
from authservice.twofactor.serializers import CodeIn, SetupIn, TempTokenIn, VerifyLoginIn

_SCAN = phrase(
    "Scan the QR code with an authenticator app. To enable it, send the code that it shows."
)
_KEEP = phrase("Keep the backup codes in a safe place. They are not shown again.")


class TwoFactorSetup(TypedDict):
    """The secret for an authenticator app, as text, `otpauth` URI and QR code; shown only once."""

    secret: str
    qr_url: Uri
    qr_code: Uri
    backup_codes: list[str]
    message: str


class BackupCodes(TypedDict):
    """A set of backup codes; shown only once."""

    backup_codes: list[str]
    message: str


class TwoFactorStatus(TypedDict):
    """`method` is `totp` if a second factor is enabled, otherwise empty."""

    enabled: bool
    method: str
    backup_codes_remaining: int


class Setup(Endpoint):
    @operation(
        "Start setting up a second factor",
        body=SetupIn,
        answer=TwoFactorSetup,
        faults=(
            errors.InvalidCredentials,
            errors.ReauthenticationRequired,
            errors.ServiceUnavailable,
            errors.TooManyAttempts,
            errors.TwoFactorAlreadyEnabled,
        ),
        id="setUpTwoFactor",
    )
    def set_up(self) -> HttpResponse:
        password, caller = self.read(SetupIn).get("password", Secret("")), self.identity
        enrolled = enrolment.set_up(caller.person, caller.session, self.client, password=password)
        return _setup(enrolled)


class Verify(Endpoint):
    @operation(
        "Enable the second factor with its first code",
        body=CodeIn,
        answer=MessageResponse,
        faults=(
            errors.TooManyAttempts,
            errors.TwoFactorAlreadyEnabled,
            errors.TwoFactorInvalid,
            errors.TwoFactorNotEnabled,
        ),
        id="enableTwoFactor",
    )
    def verify(self) -> HttpResponse:
        code, caller = self.read(CodeIn)["code"], self.identity
        enrolment.confirm(caller.person, caller.session, code, self.client)
        return responses.message_response(
            phrase("Two-factor authentication is enabled. All other sessions have ended.")
        )


class Disable(Endpoint):
    @operation(
        "Disable the second factor with one of its codes",
        body=CodeIn,
        answer=MessageResponse,
        faults=(errors.TooManyAttempts, errors.TwoFactorInvalid, errors.TwoFactorNotEnabled),
        id="disableTwoFactor",
    )
    def disable(self) -> HttpResponse:
        code, caller = self.read(CodeIn)["code"], self.identity
        enrolment.disable(caller.person, caller.session, code, self.client)
        return responses.message_response(phrase("Two-factor authentication is disabled."))


class Status(Endpoint):
    @operation(
        "Show whether a second factor is enabled", answer=TwoFactorStatus, id="twoFactorStatus"
    )
    def read_status(self) -> HttpResponse:
        found = enrolment.status(self.identity.person)
        status: TwoFactorStatus = {
            "enabled": found.enabled,
            "method": "totp" if found.enabled else "",
            "backup_codes_remaining": found.backup_codes_remaining,
        }
        return answer(status)


class RenewBackupCodes(Endpoint):
    @operation(
        "Replace the backup codes",
        body=CodeIn,
        answer=BackupCodes,
        faults=(errors.TooManyAttempts, errors.TwoFactorInvalid, errors.TwoFactorNotEnabled),
        id="renewBackupCodes",
    )
    def renew(self) -> HttpResponse:
        code, caller = self.read(CodeIn)["code"], self.identity
        codes = enrolment.renew_backup_codes(caller.person, caller.session, code, self.client)
        texts = [code.reveal() for code in codes]
        renewed: BackupCodes = {"backup_codes": texts, "message": _KEEP}
        return answer(renewed)


class VerifyLogin(FormEndpoint):
    route = "2fa-verify-login"
    hidden = ("temp_token",)
    public = True

    @operation(
        "Complete a login with a second factor",
        body=VerifyLoginIn,
        answer=Authenticated | Challenged,
        faults=(
            errors.EmailNotVerified,
            errors.InvalidToken,
            errors.PhoneNotVerified,
            errors.TooManyAttempts,
            errors.TwoFactorNotEnabled,
            errors.TwoFactorRefused,
        ),
        id="verifyLogin",
    )
    def verify(self) -> HttpResponse:
        given = self.read(VerifyLoginIn)
        outcome = verify_login.verify_login(
            given["temp_token"], given["code"], self.client, remember=given["remember_device"]
        )
        return responses.login(outcome, message=phrase("Logged in."))


class SetupLogin(Endpoint):
    public = True

    @operation(
        "Start setting up the second factor that a login requires",
        body=TempTokenIn,
        answer=TwoFactorSetup,
        faults=(errors.InvalidToken, errors.TwoFactorAlreadyEnabled),
        id="setUpTwoFactorToLogIn",
    )
    def set_up(self) -> HttpResponse:
        return _setup(verify_login.set_up(self.read(TempTokenIn)["temp_token"], self.client))


def _setup(enrolled: Enrolment) -> HttpResponse:
    setup: TwoFactorSetup = {
        "secret": enrolled.secret.reveal(),
        "qr_url": enrolled.uri.reveal(),
        "qr_code": qr.data_uri(enrolled.uri.reveal()),
        "backup_codes": [code.reveal() for code in enrolled.backup_codes],
        "message": joined([_SCAN, _KEEP]),
    }
    return answer(setup)
