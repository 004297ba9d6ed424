"""Routes of a forgotten password and of verifying addresses and numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from django.urls import reverse

from authservice.core.api import responses
from authservice.core.api.authentication import live_caller
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.link_endpoint import FormEndpoint, LinkEndpoint, ToConfirm
from authservice.core.api.responses import MessageResponse, NewDeviceToken, Verified
from authservice.core.api.serializers import (
    EmailIn,
    ForgotPasswordIn,
    PhoneIn,
    ResetLinkIn,
    ResetPasswordIn,
    TokenIn,
    VerifyPhoneIn,
)
from authservice.core.recovery import password_reset, secure_account, verification
from authservice.kernel import errors
from authservice.kernel.http import pages
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.operations import operation
from authservice.kernel.phrases import phrase
from authservice.kernel.secret import Secret

# The same answer for known and unknown targets, so that it does not reveal accounts.
_SENT = phrase("If the account exists and needs it, a message is on its way.")


class ForgotPassword(Endpoint):
    public = True

    @operation(
        "Request a link or code to set a new password",
        body=ForgotPasswordIn,
        answer=MessageResponse,
        faults=(errors.SmsNotConfigured,),
    )
    def ask(self) -> HttpResponse:
        given = self.read(ForgotPasswordIn)
        if self.one_of(given, *ForgotPasswordIn.exactly_one) == "email":
            password_reset.request_by_email(given["email"], self.client)
        else:
            password_reset.request_by_phone(given["phone"], self.client)
        return responses.message_response(_SENT)


class ResetPassword(FormEndpoint):
    """A mailed link leads here if the project has no front end."""

    route = "reset-password"
    hidden = ("token", "email")
    public = True

    @operation(
        "Show the page of a link to set a new password",
        query=ResetLinkIn,
        answer=ToConfirm | None,
        page="A browser gets a page with a form.",
        faults=(errors.InvalidLink, errors.LinkExpired),
        id="showResetPassword",
    )
    def show(self) -> HttpResponse:
        return self.show_form(self.read_query(ResetLinkIn))

    def known(self, given: Mapping[str, Secret]) -> Mapping[str, Any]:
        email = given["email"].reveal()
        password_reset.require_open(given["token"], email)
        return {"email": email}

    @operation(
        "Set a new password with a link or code",
        body=ResetPasswordIn,
        answer=NewDeviceToken,
        faults=(
            errors.InvalidLink,
            errors.InvalidPassword,
            errors.InvalidVerificationCode,
            errors.LinkExpired,
            errors.ServiceUnavailable,
        ),
    )
    def reset(self) -> HttpResponse:
        given = self.read(ResetPasswordIn)
        password = given["new_password"]
        if self.one_of(given, *ResetPasswordIn.exactly_one) == "token":
            caller: Any = live_caller(self.request)
            device_token = password_reset.reset_with_link(
                given["token"],
                given["email"],
                password,
                self.client,
                caller=caller.person if caller else None,
            )
        elif not given["phone"]:
            raise errors.invalid("phone", phrase("This field is required with a code."))
        else:
            device_token = password_reset.reset_with_code(
                given["phone"], given["code"], password, self.client
            )
        response = responses.message_response(phrase("Password reset. All sessions have ended."))
        responses.hand_out_device(response, device_token)
        return response


class SendVerificationEmail(Endpoint):
    public = True

    @operation(
        "Request a link that verifies an e-mail address", body=EmailIn, answer=MessageResponse
    )
    def send(self) -> HttpResponse:
        verification.send_to_email(self.read(EmailIn)["email"], self.client)
        return responses.message_response(_SENT)


class SendVerificationPhone(Endpoint):
    public = True

    @operation(
        "Request a code that verifies a phone number",
        body=PhoneIn,
        answer=MessageResponse,
        faults=(errors.SmsNotConfigured,),
    )
    def send(self) -> HttpResponse:
        verification.send_to_phone(self.read(PhoneIn)["phone"], self.client)
        return responses.message_response(_SENT)


class VerifyPhone(Endpoint):
    public = True

    @operation(
        "Verify a phone number with a code",
        body=VerifyPhoneIn,
        answer=MessageResponse,
        faults=(errors.InvalidVerificationCode,),
    )
    def verify(self) -> HttpResponse:
        given = self.read(VerifyPhoneIn)
        verification.verify_phone(given["phone"], given["code"], self.client)
        return responses.message_response(phrase("Phone number verified."))


class SecureAccount(LinkEndpoint):
    """The link of a security notice. Opening it changes nothing, since mail scanners open every
    link; the button of its page sends a POST request."""

    route = "secure-account"
    public = True
    guard_exempt = True
    takes_form = True

    @operation(
        "Show what the link of a security notice does",
        query=TokenIn,
        answer=ToConfirm | None,
        page="A browser gets a page with a button.",
        id="showSecureAccount",
    )
    def show(self) -> HttpResponse:
        if self.is_prefetch:
            return answer()
        token = self.read_query(TokenIn)["token"]
        if self.shown_to_people:
            return _secure_page("confirm", token)
        status: ToConfirm = {"status": "confirm"}
        return answer(status)

    @operation(
        "Undo a change of the account and end all access to it",
        body=TokenIn,
        answer=Verified,
        page="A browser gets a page, with the button again if the form comes from another site.",
        faults=(errors.InvalidLink, errors.LinkExpired),
    )
    def secure(self) -> HttpResponse:
        token = self.read(TokenIn)["token"]
        if pages.posted_elsewhere(self.request):
            return _secure_page("confirm", token)
        try:
            secure_account.secure(token, self.client)
        except errors.Fault:
            if self.shown_to_people:
                return _secure_page("failed")
            raise
        if self.shown_to_people:
            return _secure_page("done")
        secured: Verified = {
            "message": phrase(
                "The change was undone. A mail with a link to choose a password follows."
            ),
            "status": "success",
        }
        return answer(secured)


def _secure_page(state: str, token: Secret | None = None) -> HttpResponse:
    context = {"state": state, "token": token, "action": reverse("authservice:secure-account")}
    return pages.page("authservice/core/secure_account.html", context)
