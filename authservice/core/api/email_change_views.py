"""The request of another e-mail address, and the link that confirms it.

Mail scanners open every link, and the reader of the new mailbox may be another person. So a GET
request acts only in the browser that sent the request; every other browser gets a page that names
the account.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from authservice.core import errors
from authservice.core.api import redirects, responses
from authservice.core.api.callers import live_caller
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.link_endpoint import LinkEndpoint, ToConfirm
from authservice.core.api.responses import MessageResponse, Verified
from authservice.core.api.serializers import ChangeEmailIn, TokenIn
from authservice.core.conf import core
from authservice.core.messages import mailed_links
from authservice.core.own_account import email_change, email_confirmation
from authservice.core.own_account.email_change import CHANGE_EMAIL
from authservice.core.recovery import recent_proof, verification
from authservice.core.recovery.recent_proof import Proof
from authservice.core.users import identifiers
from authservice.core.users.person import Person
from authservice.kernel import crypto
from authservice.kernel.errors import Fault, ServiceUnavailable, ValidationFailed
from authservice.kernel.http import cookies, pages
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.operations import carries, operation
from authservice.kernel.phrases import phrase
from authservice.kernel.secret import Secret

_COOKIE = "authservice_change_email"
_PURPOSE = "change-email-browser"
_REQUESTED = phrase("A message to the new address says what to do next.")
_CHANGED: Verified = {"message": phrase("E-mail address changed."), "status": "success"}
_PAGE = "authservice/pages/change_email.html"
_ONWARD = "A redirect to the front end, if configured, with `status=success` or `status=error`."
_FAULTS = (
    errors.Conflict,
    errors.InvalidVerificationToken,
    errors.VerificationTokenExpired,
)


def put_cookie(response: HttpResponse, person: Person, email: str) -> None:
    """Store a keyed digest of account and address in the browser. It gives no access by itself."""
    kept = crypto.digest(_PURPOSE, _text(person, email))
    cookies.put(response, _COOKIE, kept, ttl=CHANGE_EMAIL.link_ttl)


def cookie_is_for(request: HttpRequest, person: Person, email: str) -> bool:
    """Whether this browser requested this address for this account."""
    kept = cookies.get(request, _COOKIE)
    return kept.isascii() and crypto.matches(_PURPOSE, _text(person, email), kept)


def _text(person: Person, email: str) -> str:
    return f"{person.id}|{identifiers.email_key(email)}"


@carries("Set-Cookie")
class EmailChangeRequested(MessageResponse):
    """The response is the same for a free and a taken address if `SIGNUP_ENUMERATION` is `"hide"`.
    The cookie lets this browser follow the link without a further step."""


class ChangeEmail(Endpoint):
    @operation(
        body=ChangeEmailIn,
        answer=EmailChangeRequested,
        faults=(*recent_proof.FAULTS, errors.EmailNotConfigured, errors.UserAlreadyExists),
        answered=(
            "A link was mailed to the new address. The response is the same for a taken"
            " address if `SIGNUP_ENUMERATION` is `hide`. If only the spelling of the"
            " address changes, it is stored at once."
        ),
    )
    def ask(self) -> HttpResponse:
        """Request another e-mail address for the user's own account

        Requests another e-mail address. Nothing changes until the link in the mail to the new
        address is opened, which works for 24 hours; the former address gets a notice. Send the
        request with credentials from a page on the same site: the browser gets a cookie, and opens
        the link without a further step.

        Send a proof of the owner: the current `password`, and `code` of the second factor if one is
        enabled. A user without a password sends neither, but must have logged in at most 10 minutes
        ago. 403 `REAUTHENTICATION_REQUIRED`: ask for the password, or for another login. 401
        `INVALID_CREDENTIALS` and `TWO_FACTOR_INVALID`: the password or the code is wrong. 429
        `TOO_MANY_ATTEMPTS`: wait for `Retry-After`.

        400 `USER_ALREADY_EXISTS`: another account has the address. An account can send five
        requests a day (429 `TOO_MANY_REQUESTS`). 501 `EMAIL_NOT_CONFIGURED`: the service sends no
        mail.
        """
        given, caller = self.read(ChangeEmailIn), self.identity
        proof = Proof(given["password"], given["code"])
        email = given["email"]
        email_change.request(caller.person, caller.session, email, proof, self.client)
        response = responses.message_response(_REQUESTED)
        put_cookie(response, caller.person, email)
        return response


class ConfirmEmailChange(LinkEndpoint):
    """A link in a mail: redirects browsers to the front end if one is configured."""

    route = "confirm-email-change"
    public = True
    guard_exempt = True
    takes_form = True

    @operation(
        query=TokenIn,
        # None for a HEAD request: the token is not spent.
        answer=Verified | ToConfirm | None,
        redirect=_ONWARD,
        page="Unless `CORE.VERIFY_CONFIRM` is off, a browser that did not send the request gets a"
        " page.",
        faults=_FAULTS,
        id="showEmailChange",
    )
    def show(self) -> HttpResponse:
        """Show what the link to a new e-mail address does, or change the address

        The address of the link to a new e-mail address. The browser that sent the request changes
        the address; another one gets a page with a button. Other clients get `status` `confirm`:
        show the change, and send `token` with `POST /change-email/confirm`.

        If the front end has a page for the result, the browser is redirected there with
        `status=success` or `status=error`. `INVALID_VERIFICATION_TOKEN` and
        `VERIFICATION_TOKEN_EXPIRED` mean that the link is not valid any more.
        """
        if self.is_head:
            return answer()
        try:
            token = self._token()
            person, email = email_confirmation.find(token)
        except Fault as fault:
            return redirects.not_verified(fault, status=302)
        embedded = pages.embedded(self.request)
        known = cookie_is_for(self.request, person, email) and not embedded
        if core.verify_confirm == "off" or known:
            return self._confirm(token, proof=known or self.wants_json, status=302)
        if self.shown_to_people or embedded:
            return _page(token, person, email)
        status: ToConfirm = {"status": "confirm"}
        return answer(status)

    @operation(
        body=TokenIn,
        answer=Verified,
        redirect=_ONWARD,
        redirect_status=303,
        page="If the form comes from another site, the response is the page again.",
        faults=_FAULTS,
        id="confirmEmailChange",
        answered="The address was changed; `status` is `success`.",
    )
    def confirm(self) -> HttpResponse:
        """Change the e-mail address of an account with a mailed link

        Changes the address with the `token` of the link. The new address is verified then, sessions
        stay valid, and both addresses get a mail. Links to the former address are revoked, except
        the one that undoes the change.

        Sending it again succeeds again. 400 `INVALID_VERIFICATION_TOKEN`: the link is not valid,
        for example because the address belongs to another account by now.
        """
        token = self.read(TokenIn)["token"]
        if pages.posted_elsewhere(self.request):
            try:
                return _page(token, *email_confirmation.find(token))
            except Fault as fault:
                return redirects.not_verified(fault, status=303)
        return self._confirm(token, proof=True, status=303)

    def _confirm(self, token: Secret, *, proof: bool, status: int) -> HttpResponse:
        try:
            email_confirmation.confirm(token, self.client, proof=proof, own=self._is_own)
        except ServiceUnavailable:  # not refused: the link is still valid
            raise
        except Fault as fault:
            return redirects.not_verified(fault, status=status)
        return redirects.verified(_CHANGED, status=status)

    def _is_own(self, person: Person, email: str) -> bool:
        """Whether the request comes from the browser of the request, or from a session of this
        user."""
        if cookie_is_for(self.request, person, email):
            return True
        caller: Any = live_caller(self.request)
        return verification.is_same(person, caller.person if caller else None)

    def _token(self) -> Secret:
        """The token of the link. Raises a refusal."""
        try:
            token: Secret = self.read_query(TokenIn)["token"]
        except ValidationFailed as wrong:  # no mailed link has such a token
            raise errors.InvalidVerificationToken from wrong
        return token


def _page(token: Secret, person: Person, email: str) -> HttpResponse:
    context = {
        "token": token,
        "account": person.email or person.username,
        "email": email,
        "action": reverse("authservice:confirm-email-change"),
    }
    return pages.page(_PAGE, context, onward=mailed_links.verified("success"))
