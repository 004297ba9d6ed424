"""Routes of a forgotten password and of verifying addresses and numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from django.urls import reverse

from authservice.core import errors
from authservice.core.api import responses
from authservice.core.api.callers import signed_in_user
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
from authservice.core.credentials import password_rules
from authservice.core.recovery import password_reset, secure_account, verification
from authservice.kernel.errors import Fault, ServiceUnavailable, invalid
from authservice.kernel.http import pages
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.operations import operation
from authservice.kernel.languages import phrase
from authservice.kernel.secret import Secret

# The same answer for known and unknown targets, so that it does not reveal accounts.
_SENT = phrase("If the account exists and needs it, a message is on its way.")
_MAIL_REQUESTED = (
    "The request was accepted. The response is the same if there is no such"
    " account, if its address is verified already, or if a limit on mails was"
    " reached: nothing is mailed then."
)
_TEXT_REQUESTED = (
    "The request was accepted. The response is the same if no account has the"
    " number, if it is verified already, or if a limit on text messages was"
    " reached: nothing is sent then."
)


class ForgotPassword(Endpoint):
    path = "forgot-password"
    route = "forgot-password"
    public = True

    @operation(
        "POST",
        body=ForgotPasswordIn,
        answer=MessageResponse,
        faults=(errors.SmsNotConfigured,),
        id="requestPasswordReset",
        answered=(
            "The request was accepted. The response is the same whether an account"
            " exists or not, and beyond a limit on messages: nothing is sent then."
        ),
    )
    def ask(self) -> HttpResponse:
        """Request a link or code to set a new password

        Mails a link to set a new password, or sends a code to a verified phone number. Send exactly
        one of `email` and `phone`. The link leads to the page of the front end with `token` and
        `email` in its query and is valid for an hour; the code is valid for 10 minutes. Send either
        to `POST /reset-password`.

        A client can request 3 messages in 15 minutes and 10 a day for one address or number. 501
        `SMS_NOT_CONFIGURED`: the service sends no text messages.
        """
        fields = self.read(ForgotPasswordIn)
        if self.one_of(fields, *ForgotPasswordIn.exactly_one) == "email":
            password_reset.request_by_email(fields["email"], self.client)
        else:
            password_reset.request_by_phone(fields["phone"], self.client)
        return responses.message_response(_SENT)


class ResetPassword(FormEndpoint):
    """A mailed link leads here if the project has no front end."""

    path = "reset-password"
    route = "reset-password"
    hidden = ("token", "email")
    public = True

    @operation(
        "POST",
        body=ResetPasswordIn,
        answer=NewDeviceToken,
        faults=(
            errors.Conflict,
            errors.InvalidLink,
            errors.InvalidPassword,
            errors.InvalidVerificationCode,
            errors.LinkExpired,
            ServiceUnavailable,
        ),
        id="resetPassword",
        answered=(
            "The password was set and all sessions have ended. A known device gets a"
            " new device token in the header; earlier ones are revoked."
        ),
    )
    def reset(self) -> HttpResponse:
        """Set a new password with a link or code

        Sets a new password with the `token` and `email` of a mailed link, or with the `code` of a
        text message and `phone`. All sessions end and nobody is signed in: ask the user to log in
        with the new password. A second factor stays enabled.

        400 `INVALID_PASSWORD`: show the message, which has the rules; the link still works. 400
        `INVALID_TOKEN`, `TOKEN_EXPIRED` or `INVALID_VERIFICATION_CODE`: offer another link or code
        with `POST /forgot-password`.
        """
        fields = self.read(ResetPasswordIn)
        password = fields["new_password"]
        if self.one_of(fields, *ResetPasswordIn.exactly_one) == "token":
            # A first proof of the address by the signed-in owner is not suspect.
            device_token = password_reset.reset_with_link(
                fields["token"],
                fields["email"],
                password,
                self.client,
                caller=signed_in_user(self.request),
            )
        elif not fields["phone"]:
            raise invalid("phone", phrase("This field is required with a code."))
        else:
            device_token = password_reset.reset_with_code(
                fields["phone"], fields["code"], password, self.client
            )
        response = responses.message_response(phrase("Password reset. All sessions have ended."))
        responses.hand_out_device(response, device_token)
        return response

    @operation(
        "GET",
        query=ResetLinkIn,
        answer=ToConfirm | None,
        page="A browser gets a page with a form.",
        faults=(errors.InvalidLink, errors.LinkExpired),
        id="showPasswordReset",
    )
    def show(self) -> HttpResponse:
        """Show the page of a link to set a new password

        The page of a link to set a new password, for services without a front end. A browser gets
        a form, which sends `POST /reset-password`. Opening it does not use the link. Other clients
        get `status` `confirm`.
        """
        return self.show_form(self.read_query(ResetLinkIn))

    def link_details(self, hidden: Mapping[str, Secret]) -> Mapping[str, Any]:
        """The address, which the form shows besides its fields, and the rules for a new password of
        this user. They may tell the holder of the link whether the user has a second factor, as the
        refusal of a weak password does, which leaves the link valid too."""
        email = hidden["email"].reveal()
        person, _ = password_reset.require_open(hidden["token"], email)
        return {"email": email, "password_rules": password_rules.rules_for(person.user)}


class SendVerificationEmail(Endpoint):
    path = "send-verification-email"
    route = "send-verification-email"
    public = True

    @operation(
        "POST",
        body=EmailIn,
        answer=MessageResponse,
        answered=_MAIL_REQUESTED,
    )
    def send(self) -> HttpResponse:
        """Request a link that verifies an e-mail address

        Sends a mail with a link to `/verify-email`, which is valid for 24 hours. Call it when the
        user did not get the mail of the sign-up, or when a link had expired.

        A client can request 3 mails in 15 minutes and 10 a day for one address. The response does
        not reveal whether the address has an account, so tell the user to look into the mailbox.
        """
        verification.send_to_email(self.read(EmailIn)["email"], self.client)
        return responses.message_response(_SENT)


class ResendVerificationEmail(SendVerificationEmail):
    path = "resend-verification-email"
    route = "resend-verification-email"

    @operation(
        "POST",
        body=EmailIn,
        answer=MessageResponse,
        answered=_MAIL_REQUESTED,
    )
    def resend(self) -> HttpResponse:
        """Request a link that verifies an e-mail address

        Sends a mail with a link to `/verify-email`, which is valid for 24 hours. Call it when the
        user did not get the mail of the sign-up, or when a link had expired.

        A client can request 3 mails in 15 minutes and 10 a day for one address. The response does
        not reveal whether the address has an account, so tell the user to look into the mailbox.

        The same as `POST /send-verification-email`, for clients that name the second request
        differently.
        """
        return self.send()


class SendVerificationPhone(Endpoint):
    path = "send-verification-phone"
    route = "send-verification-phone"
    public = True

    @operation(
        "POST",
        body=PhoneIn,
        answer=MessageResponse,
        faults=(errors.SmsNotConfigured,),
        answered=_TEXT_REQUESTED,
    )
    def send(self) -> HttpResponse:
        """Request a code that verifies a phone number

        Sends a text message with a code of six digits, which is valid for 10 minutes and 5
        attempts. Send the code to `POST /verify-phone`. A new code revokes the previous one of the
        account.

        Several accounts may have a number that none of them has verified. Send the access token of
        the signed-in user: the code is for that account. Without a token it is for the only account
        that has the number.

        A client can request 3 messages in 15 minutes and 10 a day for one number. 501
        `SMS_NOT_CONFIGURED` means that the service has no sender of text messages.
        """
        phone = self.read(PhoneIn)["phone"]
        verification.send_to_phone(phone, self.client, caller=signed_in_user(self.request))
        return responses.message_response(_SENT)


class ResendVerificationPhone(SendVerificationPhone):
    path = "resend-verification-phone"
    route = "resend-verification-phone"

    @operation(
        "POST",
        body=PhoneIn,
        answer=MessageResponse,
        faults=(errors.SmsNotConfigured,),
        answered=_TEXT_REQUESTED,
    )
    def resend(self) -> HttpResponse:
        """Request a code that verifies a phone number

        Sends a text message with a code of six digits, which is valid for 10 minutes and 5
        attempts. Send the code to `POST /verify-phone`. A new code revokes the previous one of the
        account.

        Several accounts may have a number that none of them has verified. Send the access token of
        the signed-in user: the code is for that account. Without a token it is for the only account
        that has the number.

        A client can request 3 messages in 15 minutes and 10 a day for one number. 501
        `SMS_NOT_CONFIGURED` means that the service has no sender of text messages.

        The same as `POST /send-verification-phone`, for clients that name the second request
        differently.
        """
        return self.send()


class VerifyPhone(Endpoint):
    path = "verify-phone"
    route = "verify-phone"
    public = True

    @operation(
        "POST",
        body=VerifyPhoneIn,
        answer=MessageResponse,
        faults=(errors.InvalidVerificationCode,),
        answered="The number is verified.",
    )
    def verify(self) -> HttpResponse:
        """Verify a phone number with a code

        Verifies a phone number with the code of a text message. The caller need not be signed in,
        but send the access token if the code was requested with it: a code verifies the number for
        one account. Every other account that has the number loses it.

        400 `INVALID_VERIFICATION_CODE` is the answer to every wrong, used or expired code. A code
        allows five wrong attempts by all clients together. After them a right code is refused too,
        so offer another one with `POST /send-verification-phone`.
        """
        fields = self.read(VerifyPhoneIn)
        caller = signed_in_user(self.request)
        verification.verify_phone(fields["phone"], fields["code"], self.client, caller=caller)
        return responses.message_response(phrase("Phone number verified."))


class SecureAccount(LinkEndpoint):
    """The link of a security notice. Opening it changes nothing, since mail scanners open every
    link; the button of its page sends a POST request."""

    path = "account/secure"
    route = "secure-account"
    public = True
    guard_exempt = True  # the token of the link is the proof
    takes_form = True

    @operation(
        "GET",
        query=TokenIn,
        answer=ToConfirm | None,
        page="A browser gets a page with a button.",
        id="showAccountSecuring",
    )
    def show(self) -> HttpResponse:
        """Show what the link of a security notice does

        The address of the link "This was not me" in a notice. Opening it changes nothing: a browser
        gets a page with a button, other clients get `status` `confirm`. Send `token` with
        `POST /account/secure`. The response does not say whether the token is valid.
        """
        if self.is_head:
            return answer()
        token = self.read_query(TokenIn)["token"]
        if self.shown_to_people:
            return self._ask(token)
        status: ToConfirm = {"status": "confirm"}
        return answer(status)

    @operation(
        "POST",
        body=TokenIn,
        answer=Verified,
        page="A browser gets a page, with the button again if the form comes from another site.",
        faults=(errors.Conflict, errors.InvalidLink, errors.LinkExpired),
        id="secureAccount",
        answered=(
            "The account is secured; `status` is `success`. A link to set a password was mailed."
        ),
    )
    def secure(self) -> HttpResponse:
        """Undo a change of the account and end all access to it

        Undoes the change that a notice was about, for an owner who did not make it. It restores
        the address and the phone number, removes a second factor and linked providers that were
        added since, ends all sessions, makes the password unusable, and mails a link to set a new
        one. The link works for 72 hours.

        Using the same link again gets the same response and changes nothing. 400 `INVALID_TOKEN`
        or `TOKEN_EXPIRED`: use `POST /forgot-password` instead, or ask the support.
        """
        token = self.read(TokenIn)["token"]
        if pages.posted_elsewhere(self.request):
            return self._ask(token)
        try:
            secure_account.secure(token, self.client)
        except Fault:
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

    def _ask(self, token: Secret) -> HttpResponse:
        """The page with the button, or the page of the refusal that the button would get."""
        try:
            secure_account.require_usable(token)
        except (errors.InvalidLink, errors.LinkExpired):
            return _secure_page("failed")
        return _secure_page("confirm", token)


def _secure_page(state: str, token: Secret | None = None) -> HttpResponse:
    context = {"state": state, "token": token, "action": reverse("authservice:secure-account")}
    return pages.page("authservice/core/secure_account.html", context)
