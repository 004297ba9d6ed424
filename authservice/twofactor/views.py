"""Routes of the second factor: one's own, and the second step of a sign-in."""

from __future__ import annotations

from typing import TypedDict

from django.http import HttpResponse

from authservice.core.api import responses
from authservice.core.api.responses import Authenticated, Challenged, MessageResponse
from authservice.kernel import errors
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.operations import Uri, operation
from authservice.kernel.http.views import Endpoint
from authservice.kernel.secret import Secret
from authservice.twofactor import enrolment, qr, verify_login
from authservice.twofactor.enrolment import Enrolment
from authservice.twofactor.serializers import CodeIn, SetupIn, TempTokenIn, VerifyLoginIn

_SCAN = "Scan the code with an authenticator app and send a code of it to enable the factor."
_KEEP = "Keep the backup codes where nobody else finds them. They are not shown again."


class TwoFactorSetup(TypedDict):
    """What an authenticator app needs, as text, `otpauth` URI and picture; shown this once."""

    secret: str
    qr_url: Uri
    qr_code: Uri
    backup_codes: list[str]
    message: str


class BackupCodes(TypedDict):
    """A set of codes; shown this once."""

    backup_codes: list[str]
    message: str


class TwoFactorStatus(TypedDict):
    """`method` is `totp` where a second factor is enabled, else empty."""

    enabled: bool
    method: str
    backup_codes_remaining: int


class Setup(Endpoint):
    @operation(
        "Begin to set up a second factor",
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
        made = enrolment.set_up(caller.person, caller.session, self.client, password=password)
        return _made(made)


class Verify(Endpoint):
    @operation(
        "Enable the second factor with a code of it",
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
            "Two-factor authentication is on. All other sign-ins have ended."
        )


class Disable(Endpoint):
    @operation(
        "Disable the second factor with a code of it",
        body=CodeIn,
        answer=MessageResponse,
        faults=(errors.TooManyAttempts, errors.TwoFactorInvalid, errors.TwoFactorNotEnabled),
        id="disableTwoFactor",
    )
    def disable(self) -> HttpResponse:
        code, caller = self.read(CodeIn)["code"], self.identity
        enrolment.disable(caller.person, caller.session, code, self.client)
        return responses.message_response("Two-factor authentication is off.")


class Status(Endpoint):
    @operation("Whether a second factor is enabled", answer=TwoFactorStatus, id="twoFactorStatus")
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


class VerifyLogin(Endpoint):
    public = True

    @operation(
        "Take the second step of a sign-in",
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
        return responses.login(outcome, message="Logged in.")


class SetupLogin(Endpoint):
    public = True

    @operation(
        "Begin to set up the second factor that a sign-in asks for",
        body=TempTokenIn,
        answer=TwoFactorSetup,
        faults=(errors.InvalidToken, errors.TwoFactorAlreadyEnabled),
        id="setUpTwoFactorToLogIn",
    )
    def set_up(self) -> HttpResponse:
        return _made(verify_login.set_up(self.read(TempTokenIn)["temp_token"], self.client))


def _made(made: Enrolment) -> HttpResponse:
    setup: TwoFactorSetup = {
        "secret": made.secret.reveal(),
        "qr_url": made.uri.reveal(),
        "qr_code": qr.data_uri(made.uri.reveal()),
        "backup_codes": [code.reveal() for code in made.backup_codes],
        "message": f"{_SCAN} {_KEEP}",
    }
    return answer(setup)
