"""Routes of the magic-link module, and the page that keeps mail scanners from using up a link.

A mail scanner opens every link of an e-mail, often like a browser; a user presses the button. The
browser that requested the link and clients that do not accept HTML need no button. The form rejects
submissions from other sites: they would log their visitors in to the account that the link belongs
to (login CSRF).
"""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.urls import reverse
from django.utils.crypto import constant_time_compare

from authservice.core.api import redirects, responses
from authservice.core.api.authentication import accepts_cookies, live_caller
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.link_endpoint import LinkEndpoint
from authservice.core.api.responses import Authenticated, Challenged, Sent
from authservice.core.api.serializers import EmailIn
from authservice.core.users import identifiers
from authservice.core.users.person import Person
from authservice.kernel import crypto, errors
from authservice.kernel.http import cookies, pages
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.operations import carries, operation
from authservice.kernel.phrases import phrase
from authservice.kernel.secret import Secret
from authservice.magiclink import login
from authservice.magiclink.conf import conf
from authservice.magiclink.messages import VERIFY
from authservice.magiclink.serializers import CodeIn, TokenIn

# The same response for every address, known or unknown.
_SENT = phrase("If this address can sign in, a message with a link and a code is on its way.")
_DONE = phrase("Signed in.")
_COOKIE = "authservice_magiclink"
_PAGE = "authservice/magiclink/confirm.html"
_ONWARD = (
    "A redirect to the front end, if configured. The fragment has tokens, a challenge or an error."
)


@carries("Set-Cookie")
class MagicLinkSent(Sent):
    """The same response for every address, so it does not reveal whether an account exists."""


class Send(Endpoint):
    public = True

    @operation(
        "Request a link and a code to sign in",
        body=EmailIn,
        answer=MagicLinkSent,
        faults=(errors.EmailNotConfigured,),
    )
    def send(self) -> HttpResponse:
        email = self.read(EmailIn)["email"]
        login.request_link(email, self.client)
        response = responses.sent(_SENT)
        if conf.confirm == "auto":
            kept = _trace(identifiers.email_key(email))
            cookies.put(response, _COOKIE, kept, ttl=conf.ttl)
        return response


class VerifyCode(Endpoint):
    public = True

    @operation(
        "Sign in with a mailed code",
        body=CodeIn,
        answer=Authenticated | Challenged,
        faults=(errors.InvalidVerificationCode, errors.PhoneNotVerified),
    )
    def verify_code(self) -> HttpResponse:
        given = self.read(CodeIn)
        outcome = login.log_in_by_code(client=self.client, caller=_caller(self), **given)
        return responses.login(outcome, message=_DONE)


class Verify(LinkEndpoint):
    route = VERIFY
    public = True
    guard_exempt = True
    takes_form = True

    @operation(
        "Sign in with a mailed link",
        query=TokenIn,
        # None for a HEAD request or a browser prefetch: the link stays unused.
        answer=Authenticated | Challenged | None,
        redirect=_ONWARD,
        page="Unless `MAGICLINK.CONFIRM` is off, a browser that did not request the link gets a"
        " page. With tokens in cookies, so does a script of an origin that is not trusted.",
        faults=(errors.InvalidLink, errors.LinkExpired, errors.PhoneNotVerified),
        id="followMagicLink",
    )
    def follow(self) -> HttpResponse:
        if self.is_prefetch:
            return answer()
        try:
            token = self._token()
        except errors.ValidationFailed as fault:
            return redirects.refusal(fault, to=conf.callback_url)
        if accepts_cookies() and pages.fetched_elsewhere(self.request):
            return _page(token)  # login CSRF: the script would replace the visitor's cookies
        unasked = self.shown_to_people or pages.embedded(self.request)
        if conf.confirm == "auto" and unasked and not self._asked_here(token):
            return _page(token)
        return self._enter(token)

    @operation(
        "Sign in with a mailed link, by the button of its page",
        body=TokenIn,
        answer=Authenticated | Challenged,
        redirect=_ONWARD,
        page="If the form comes from another site, the response is the page again.",
        faults=(errors.InvalidLink, errors.LinkExpired, errors.PhoneNotVerified),
        id="confirmMagicLink",
    )
    def confirm(self) -> HttpResponse:
        token = self.read(TokenIn)["token"]
        if pages.posted_elsewhere(self.request):
            return _page(token)
        return self._enter(token)

    def _token(self) -> Secret:
        """The token of the link; empty if missing or too long. Raises `ValidationFailed`."""
        length = len(self.request.GET.get("token", ""))
        if not 0 < length <= TokenIn.LONGEST:
            return Secret("")
        token: Secret = self.read_query(TokenIn)["token"]
        return token

    def _enter(self, token: Secret) -> HttpResponse:
        try:
            outcome = login.log_in_by_link(token, self.client, caller=_caller(self))
        except errors.Fault as fault:
            return redirects.refusal(fault, to=conf.callback_url)
        return redirects.login(outcome, to=conf.callback_url, message=_DONE)

    def _asked_here(self, token: Secret) -> bool:
        kept = cookies.get(self.request, _COOKIE)
        target = login.target_of(token) if kept else ""
        return bool(target) and constant_time_compare(kept, _trace(target))


def _trace(email_key: str) -> str:
    """The cookie value that marks the browser that requested a link. It grants no access."""
    return crypto.digest("magic-link-browser", email_key)


def _caller(view: Endpoint) -> Person | None:
    caller: Any = live_caller(view.request)
    return caller.person if caller else None


def _page(token: Secret) -> HttpResponse:
    context = {"token": token, "action": reverse(f"authservice:{VERIFY}")}
    return pages.page(_PAGE, context, onward=conf.callback_url)
