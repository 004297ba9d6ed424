"""Routes of a forgotten password and of verifying addresses and numbers."""

from __future__ import annotations

from typing import TypedDict

from django.http import HttpResponse

from authservice.core import answers, delivery, links, recovery, verification
from authservice.core.answers import Said
from authservice.core.serializers import (
    EmailIn,
    ForgotPasswordIn,
    PhoneIn,
    ResetPasswordIn,
    VerifyEmailIn,
    VerifyPhoneIn,
)
from authservice.kernel import errors
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.operations import operation
from authservice.kernel.http.views import Endpoint

# One answer for every target, known or not.
_SENT = "If the account exists and needs it, a message is on its way."


class Verified(TypedDict):
    """An address was verified."""

    message: str
    status: str


class ForgotPassword(Endpoint):
    public = True

    @operation(
        "Ask for a link or code to set a new password",
        body=ForgotPasswordIn,
        answer=Said,
        faults=(errors.SmsNotConfigured,),
    )
    def ask(self) -> HttpResponse:
        given = self.read(ForgotPasswordIn)
        if self.one_of(given, *ForgotPasswordIn.exactly_one) == "email":
            recovery.ask_by_email(given["email"], self.client)
        else:
            recovery.ask_by_phone(given["phone"], self.client)
        return answers.said(_SENT)


class ResetPassword(Endpoint):
    public = True

    @operation(
        "Set a new password with a link or code",
        body=ResetPasswordIn,
        answer=Said,
        faults=(
            errors.InvalidLink,
            errors.InvalidPassword,
            errors.InvalidVerificationCode,
            errors.LinkExpired,
        ),
    )
    def reset(self) -> HttpResponse:
        given = self.read(ResetPasswordIn)
        password = given["new_password"]
        if self.one_of(given, *ResetPasswordIn.exactly_one) == "token":
            recovery.reset_with_link(given["token"], given["email"], password, self.client)
        elif not given["phone"]:
            raise errors.invalid("phone", "This field is required with a code.")
        else:
            recovery.reset_with_code(given["phone"], given["code"], password, self.client)
        return answers.said("Password reset. All sign-ins have ended.")


class SendVerificationEmail(Endpoint):
    public = True

    @operation("Ask for a link that verifies an e-mail address", body=EmailIn, answer=Said)
    def send(self) -> HttpResponse:
        verification.send_to_email(self.read(EmailIn)["email"], self.client)
        return answers.said(_SENT)


class SendVerificationPhone(Endpoint):
    public = True

    @operation(
        "Ask for a code that verifies a phone number",
        body=PhoneIn,
        answer=Said,
        faults=(errors.SmsNotConfigured,),
    )
    def send(self) -> HttpResponse:
        verification.send_to_phone(self.read(PhoneIn)["phone"], self.client)
        return answers.said(_SENT)


class VerifyPhone(Endpoint):
    public = True

    @operation(
        "Verify a phone number with a code",
        body=VerifyPhoneIn,
        answer=Said,
        faults=(errors.InvalidVerificationCode,),
    )
    def verify(self) -> HttpResponse:
        given = self.read(VerifyPhoneIn)
        verification.verify_phone(given["phone"], given["code"], self.client)
        return answers.said("Phone number verified.")


class VerifyEmail(Endpoint):
    """A link in a mail: browsers are redirected on where a front end is set, others get JSON."""

    public = True

    @operation(
        "Verify an e-mail address with a mailed link",
        query=VerifyEmailIn,
        # None where a browser fetches ahead of its user: nothing was spent.
        answer=Verified | None,
        redirect="The front end, with `status=success` or `status=error`, where one is configured.",
        faults=(errors.InvalidVerificationToken, errors.VerificationTokenExpired),
        id="verifyEmail",
    )
    def verify(self) -> HttpResponse:
        if self.looking_ahead:
            return answer()
        query = self.request.GET
        fault: errors.Fault | None = None
        try:
            verification.verify_email(query.get("token", ""), query.get("email", ""), self.client)
        except errors.Fault as refused:
            fault = refused
        onward = links.verified("error" if fault else "success")
        if onward:
            return delivery.redirect(onward)
        if fault:
            raise fault
        verified: Verified = {"message": "E-mail address verified.", "status": "success"}
        return answer(verified)
