"""Routes of the magic-link module, and the page that keeps mail scanners from using up a link.

A mail scanner opens every link of an e-mail, often like a browser; a user presses the button. The
browser that requested the link and clients that do not accept HTML need no button. The form rejects
submissions from other sites: they would log their visitors in to the account that the link belongs
to (login CSRF).
"""

from __future__ import annotations

from typing import Any, ClassVar

from django.http import HttpResponse
from django.urls import reverse
from django.utils.crypto import constant_time_compare
from rest_framework import serializers

from authservice.core import errors
from authservice.core.api import responses
from authservice.core.api.callers import accepts_cookies, signed_in_user
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.link_endpoint import LinkEndpoint
from authservice.core.api.responses import Authenticated, Challenged, Sent
from authservice.core.api.serializers import Email, EmailIn, LinkToken, SixDigits
from authservice.core.users import identifiers
from authservice.kernel import secret
from authservice.kernel.errors import Fault, ValidationFailed
from authservice.kernel.http import envelope, incoming, pages
from authservice.kernel.http.operations import carries, operation
from authservice.kernel.languages import phrase
from authservice.kernel.secret import Secret
from authservice.magiclink import link_login
from authservice.magiclink.conf import conf
from authservice.magiclink.link_login import VERIFY

# The same response for every address, known or unknown.
_SENT = phrase("If this address can sign in, a message with a link and a code is on its way.")
_DONE = phrase("Signed in.")
_COOKIE = "authservice_magiclink"
_PAGE = "authservice/magiclink/confirm.html"
_FAULTS = (errors.Conflict, errors.InvalidLink, errors.LinkExpired, errors.PhoneNotVerified)
_ONWARD = (
    "A redirect to the front end, if configured. The fragment has tokens, a challenge or an error;"
    " with token cookies `status=signed_in` instead of tokens."
)


class TokenIn(serializers.Serializer[Any]):
    LONGEST: ClassVar = 512

    token = LinkToken(max_length=LONGEST)


class CodeIn(serializers.Serializer[Any]):
    email = Email()
    code = SixDigits()


_ACCEPTED = (
    "The request was accepted; `status` is `sent`. The response is the same for"
    " every address, so it does not reveal whether an account exists."
)


@carries("Set-Cookie")
class MagicLinkSent(Sent):
    """The same response for every address, so it does not reveal whether an account exists."""


class Send(Endpoint):
    path = "magic-link/send"
    route = "send-magic-link"
    public = True

    @operation(
        "POST",
        body=EmailIn,
        answer=MagicLinkSent,
        faults=(errors.EmailNotConfigured,),
        answered=_ACCEPTED,
    )
    def send(self) -> HttpResponse:
        """Request a link and a code to sign in

        Mails a link and a code of six digits. Either signs the user in, and using one revokes both.
        They are valid for 15 minutes unless the service sets another time.

        Then show a field for the code (`POST /magic-link/verify-code`), and tell the user that the
        link works too. Send the request with credentials from a page on the same site: the browser
        gets a cookie, and opens the link without a further step.

        A client can request 3 mails in 15 minutes and 10 a day for one address. Beyond that the
        response is the same and nothing is mailed.
        """
        email = self.read(EmailIn)["email"]
        link_login.request_link(email, self.client)
        response = responses.sent(_SENT)
        if conf.confirm == "auto":
            trace = _trace(identifiers.email_key(email))
            envelope.put_cookie(response, _COOKIE, trace, ttl=conf.ttl)
        return response


class Resend(Send):
    path = "magic-link/resend"
    route = "resend-magic-link"

    @operation(
        "POST",
        body=EmailIn,
        answer=MagicLinkSent,
        faults=(errors.EmailNotConfigured,),
        answered=_ACCEPTED,
    )
    def resend(self) -> HttpResponse:
        """Request a link and a code to sign in

        Mails a link and a code of six digits. Either signs the user in, and using one revokes both.
        They are valid for 15 minutes unless the service sets another time.

        Then show a field for the code (`POST /magic-link/verify-code`), and tell the user that the
        link works too. Send the request with credentials from a page on the same site: the browser
        gets a cookie, and opens the link without a further step.

        A client can request 3 mails in 15 minutes and 10 a day for one address. Beyond that the
        response is the same and nothing is mailed.

        The same as `POST /magic-link/send`. A newer mail revokes the link and the code of the
        previous one.
        """
        return self.send()


class Verify(LinkEndpoint):
    path = "magic-link/verify"
    route = VERIFY
    public = True
    guard_exempt = True
    takes_form = True

    @operation(
        "GET",
        query=TokenIn,
        # None for a HEAD request: the link stays unused.
        answer=Authenticated | Challenged | None,
        redirect=_ONWARD,
        page="Unless `MAGICLINK.CONFIRM` is off, a browser that did not request the link gets a"
        " page. With tokens in cookies, so does a script of an origin that is not trusted.",
        faults=_FAULTS,
        id="followMagicLink",
    )
    def follow(self) -> HttpResponse:
        """Sign in with a mailed link

        The address of the link in the mail. The browser that requested the link is signed in; any
        other browser gets a page with a button, because mail scanners open links too. Clients that
        do not accept HTML are signed in at once.

        If the service has a callback address, the browser is redirected there, with the result in
        the fragment: tokens, or `challenge=2fa` with `temp_token`, or `error`. With token cookies
        it is `status=signed_in` instead of tokens. Remove the fragment from the address first.

        `INVALID_TOKEN` and `TOKEN_EXPIRED` mean that the link was used, replaced or is too old.
        Offer another one.
        """
        if self.is_head:
            return envelope.answer()
        token = Secret("")  # for a missing or too long token: refused like an unknown one
        if 0 < len(self.request.GET.get("token", "")) <= TokenIn.LONGEST:
            try:
                token = self.read_query(TokenIn)["token"]
            except ValidationFailed as fault:
                return responses.redirect_refusal(fault, to=conf.callback_url)
        if accepts_cookies() and pages.fetched_elsewhere(self.request):
            return self._ask(token)  # login CSRF: the script would replace the visitor's cookies
        # A browser that loads the link as an image does not ask for HTML.
        in_browser = self.shown_to_people or incoming.embedded(self.request)
        if conf.confirm == "auto" and in_browser and not self._asked_here(token):
            return self._ask(token)
        return self._enter(token)

    @operation(
        "POST",
        body=TokenIn,
        answer=Authenticated | Challenged,
        redirect=_ONWARD,
        page="If the form comes from another site, the response is the page again.",
        faults=_FAULTS,
        id="confirmMagicLink",
    )
    def confirm(self) -> HttpResponse:
        """Sign in with a mailed link, by the button of its page

        Sent by the button of the page of a magic link. A client that handles the link itself, such
        as an app, sends the `token` of the link in JSON. The response is that of
        `GET /magic-link/verify`. No CSRF token is needed, because the token of the link is enough.
        """
        token = self.read(TokenIn)["token"]
        if pages.posted_elsewhere(self.request):
            return self._ask(token)
        return self._enter(token)

    def _ask(self, token: Secret) -> HttpResponse:
        """The page with the button, or the refusal that pressing the button would get."""
        try:
            link_login.require_usable(token)
        except Fault as fault:
            return responses.redirect_refusal(fault, to=conf.callback_url)
        context = {"token": token, "action": reverse(f"authservice:{VERIFY}")}
        return pages.page(_PAGE, context, onward=conf.callback_url)

    def _enter(self, token: Secret) -> HttpResponse:
        try:
            outcome = link_login.log_in_by_link(
                token, self.client, caller=signed_in_user(self.request)
            )
        except Fault as fault:
            return responses.redirect_refusal(fault, to=conf.callback_url)
        return responses.redirect_login(outcome, to=conf.callback_url, message=_DONE)

    def _asked_here(self, token: Secret) -> bool:
        """Whether this browser asked for the link.

        Error reports show the local variables of each frame. The address of the link's owner, who
        may be somebody else, is a variable of this function alone.
        """
        trace = envelope.get_cookie(self.request, _COOKIE)
        target = link_login.target_of(token) if trace else ""
        return bool(target) and constant_time_compare(trace, _trace(target))


class VerifyCode(Endpoint):
    path = "magic-link/verify-code"
    route = "magic-link-verify-code"
    public = True

    @operation(
        "POST",
        body=CodeIn,
        answer=Authenticated | Challenged,
        faults=(errors.Conflict, errors.InvalidVerificationCode, errors.PhoneNotVerified),
        id="verifyMagicLinkCode",
    )
    def verify_code(self) -> HttpResponse:
        """Sign in with a mailed code

        Signs in with the code of the mail instead of its link, for example on another device. The
        response is that of a login: tokens, or the challenge of a second factor.

        400 `INVALID_VERIFICATION_CODE` is the answer to every wrong, used or expired code. A code
        allows five attempts; after them the right code is refused too, and only the link works.
        """
        fields = self.read(CodeIn)
        outcome = link_login.log_in_by_code(
            client=self.client, caller=signed_in_user(self.request), **fields
        )
        return responses.login(outcome, message=_DONE)


def _trace(email_key: str) -> str:
    """The cookie value that marks the browser that requested a link. It grants no access."""
    return secret.digest("magic-link-browser", email_key)
