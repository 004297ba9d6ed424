"""Routes of a forgotten password and of verifying addresses and numbers."""

from __future__ import annotations

from django.http import HttpResponse, HttpResponseRedirect

from authservice.core import links, recovery, verification
from authservice.core.serializers import (
    EmailIn,
    ForgotPasswordIn,
    PhoneIn,
    ResetPasswordIn,
    VerifyPhoneIn,
)
from authservice.kernel import errors
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.views import Endpoint

# One answer for every target, known or not.
_SENT = "If the account exists and needs it, a message is on its way."


class ForgotPassword(Endpoint):
    public = True

    def ask(self) -> HttpResponse:
        given = self.read(ForgotPasswordIn)
        if self.one_of(given, "email", "phone") == "email":
            recovery.ask_by_email(given["email"], self.client)
        else:
            recovery.ask_by_phone(given["phone"], self.client)
        return answer({"message": _SENT})


class ResetPassword(Endpoint):
    public = True

    def reset(self) -> HttpResponse:
        given = self.read(ResetPasswordIn)
        password = given["new_password"]
        if self.one_of(given, "token", "code") == "token":
            recovery.reset_with_link(given["token"], given["email"], password, self.client)
        elif not given["phone"]:
            raise errors.invalid("phone", "This field is required with a code.")
        else:
            recovery.reset_with_code(given["phone"], given["code"], password, self.client)
        return answer({"message": "Password reset. All sign-ins have ended."})


class SendVerificationEmail(Endpoint):
    public = True

    def send(self) -> HttpResponse:
        verification.send_to_email(self.read(EmailIn)["email"], self.client)
        return answer({"message": _SENT})


class SendVerificationPhone(Endpoint):
    public = True

    def send(self) -> HttpResponse:
        verification.send_to_phone(self.read(PhoneIn)["phone"], self.client)
        return answer({"message": _SENT})


class VerifyPhone(Endpoint):
    public = True

    def verify(self) -> HttpResponse:
        given = self.read(VerifyPhoneIn)
        verification.verify_phone(given["phone"], given["code"], self.client)
        return answer({"message": "Phone number verified."})


class VerifyEmail(Endpoint):
    """A link in a mail: browsers are redirected on where a front end is set, others get JSON."""

    public = True

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
            return _redirect(onward)
        if fault:
            raise fault
        return answer({"message": "E-mail address verified.", "status": "success"})


def _redirect(url: str) -> HttpResponse:
    response = HttpResponseRedirect(url)
    response.headers["Cache-Control"] = "no-store"
    response.headers["Referrer-Policy"] = "no-referrer"
    return response
