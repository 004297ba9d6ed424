"""The request of another e-mail address, and the link that confirms it.

Mail scanners open every link, and the reader of the new mailbox may be another person. So a GET
request acts only in the browser that sent the request; every other browser gets a page that names
the account.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.urls import reverse

from authservice.core.api import email_change_cookie, redirects, responses
from authservice.core.api.authentication import live_caller
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.link_endpoint import LinkEndpoint, ToConfirm
from authservice.core.api.responses import MessageResponse, Verified
from authservice.core.api.serializers import ChangeEmailIn, TokenIn
from authservice.core.conf import core
from authservice.core.messages import links
from authservice.core.own_account import email_change, email_confirmation
from authservice.core.recovery import recent_proof, verification
from authservice.core.recovery.recent_proof import Proof
from authservice.core.users.person import Person
from authservice.kernel import errors
from authservice.kernel.http import pages
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.operations import carries, operation
from authservice.kernel.phrases import phrase
from authservice.kernel.secret import Secret

_REQUESTED = phrase("A message to the new address says what to do next.")
_CHANGED: Verified = {"message": phrase("E-mail address changed."), "status": "success"}
_PAGE = "authservice/pages/change_email.html"
_ONWARD = "A redirect to the front end, if configured, with `status=success` or `status=error`."
_FAULTS = (errors.InvalidVerificationToken, errors.VerificationTokenExpired)


@carries("Set-Cookie")
class EmailChangeRequested(MessageResponse):
    """The response is the same for a free and a taken address if `SIGNUP_ENUMERATION` is `"hide"`.
    The cookie lets this browser follow the link without a further step."""


class ChangeEmail(Endpoint):
    @operation(
        "Request another e-mail address for the user's own account",
        body=ChangeEmailIn,
        answer=EmailChangeRequested,
        faults=(*recent_proof.FAULTS, errors.EmailNotConfigured, errors.UserAlreadyExists),
    )
    def ask(self) -> HttpResponse:
        given, caller = self.read(ChangeEmailIn), self.identity
        proof = Proof(given["password"], given["code"])
        email = given["email"]
        email_change.request(caller.person, caller.session, email, proof, self.client)
        response = responses.message_response(_REQUESTED)
        email_change_cookie.put(response, caller.person, email)
        return response


class ConfirmEmailChange(LinkEndpoint):
    """A link in a mail: redirects browsers to the front end if one is configured."""

    route = "confirm-email-change"
    public = True
    guard_exempt = True
    takes_form = True

    @operation(
        "Show what the link to a new e-mail address does, or change the address",
        query=TokenIn,
        # None for a prefetch: the token is not spent.
        answer=Verified | ToConfirm | None,
        redirect=_ONWARD,
        page="Unless `CORE.VERIFY_CONFIRM` is off, a browser that did not send the request gets a"
        " page.",
        faults=_FAULTS,
        id="showEmailChange",
    )
    def show(self) -> HttpResponse:
        if self.is_prefetch:
            return answer()
        try:
            token = self._token()
            person, email = email_confirmation.find(token)
        except errors.Fault as fault:
            return redirects.not_verified(fault, status=302)
        embedded = pages.embedded(self.request)
        known = email_change_cookie.is_for(self.request, person, email) and not embedded
        if core.verify_confirm == "off" or known:
            return self._confirm(token, proof=known or self.wants_json, status=302)
        if self.shown_to_people or embedded:
            return _page(token, person, email)
        status: ToConfirm = {"status": "confirm"}
        return answer(status)

    @operation(
        "Change the e-mail address of an account with a mailed link",
        body=TokenIn,
        answer=Verified,
        redirect=_ONWARD,
        redirect_status=303,
        page="If the form comes from another site, the response is the page again.",
        faults=_FAULTS,
        id="confirmEmailChange",
    )
    def confirm(self) -> HttpResponse:
        token = self.read(TokenIn)["token"]
        if pages.posted_elsewhere(self.request):
            try:
                return _page(token, *email_confirmation.find(token))
            except errors.Fault as fault:
                return redirects.not_verified(fault, status=303)
        return self._confirm(token, proof=True, status=303)

    def _confirm(self, token: Secret, *, proof: bool, status: int) -> HttpResponse:
        try:
            email_confirmation.confirm(token, self.client, proof=proof, own=self._is_own)
        except errors.ServiceUnavailable:  # not refused: the link is still valid
            raise
        except errors.Fault as fault:
            return redirects.not_verified(fault, status=status)
        return redirects.verified(_CHANGED, status=status)

    def _is_own(self, person: Person, email: str) -> bool:
        """Whether the request comes from the browser of the request, or from a session of this
        user."""
        if email_change_cookie.is_for(self.request, person, email):
            return True
        caller: Any = live_caller(self.request)
        return verification.is_same(person, caller.person if caller else None)

    def _token(self) -> Secret:
        """The token of the link. Raises a refusal."""
        try:
            token: Secret = self.read_query(TokenIn)["token"]
        except errors.ValidationFailed as wrong:  # no mailed link has such a token
            raise errors.InvalidVerificationToken from wrong
        return token


def _page(token: Secret, person: Person, email: str) -> HttpResponse:
    context = {
        "token": token,
        "account": person.email or person.username,
        "email": email,
        "action": reverse("authservice:confirm-email-change"),
    }
    return pages.page(_PAGE, context, onward=links.verified("success"))
