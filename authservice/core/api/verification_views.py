"""The route of verification links, and the page that keeps mail scanners from using them.

An attacker can sign up with the address of a victim, and a scanner of the victim's mail opens the
link. So only these count as a proof: the link opened in the browser that signed up, a request for
JSON, or a button of the page.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypedDict

from django.http import HttpResponse
from django.urls import reverse

from authservice.core import errors
from authservice.core.api import redirects, signup_cookie
from authservice.core.api.callers import live_caller
from authservice.core.api.link_endpoint import LinkEndpoint
from authservice.core.api.responses import Verified
from authservice.core.api.serializers import ConfirmEmailIn, VerifyEmailIn
from authservice.core.conf import core
from authservice.core.messages import mailed_links
from authservice.core.recovery import first_proof, verification
from authservice.kernel.errors import Fault, ServiceUnavailable, ValidationFailed
from authservice.kernel.http import pages
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.operations import operation
from authservice.kernel.phrases import phrase

_PAGE = "authservice/pages/verify_email.html"
_ONWARD = "A redirect to the front end, if configured, with `status=success` or `status=error`."
_FAULTS = (errors.Conflict, errors.InvalidVerificationToken, errors.VerificationTokenExpired)


class SignupDenied(TypedDict):
    """All access to the account was removed, because the owner of its address did not sign up."""

    message: str
    status: Literal["denied"]


_VERIFIED: Verified = {"message": phrase("E-mail address verified."), "status": "success"}
_DENIED: SignupDenied = {
    "message": phrase("All access to the account was removed. The address is not verified."),
    "status": "denied",
}


class VerifyEmail(LinkEndpoint):
    """A link in a mail: redirects browsers to the front end if one is configured; other clients get
    JSON, or a page of the pages module."""

    route = "verify-email"
    public = True
    guard_exempt = True
    takes_form = True

    @operation(
        query=VerifyEmailIn,
        # None for a HEAD request: the token is not spent.
        answer=Verified | None,
        redirect=_ONWARD,
        page="Unless `CORE.VERIFY_CONFIRM` is off, a browser that did not sign up gets a page.",
        faults=_FAULTS,
        id="verifyEmail",
        answered="The address is verified; `status` is `success`.",
    )
    def verify(self) -> HttpResponse:
        """Verify an e-mail address with a mailed link

        The address of the link in a verification mail. Browsers open it; a front end rarely calls
        it. The browser that signed up, and clients that ask for `application/json`, verify the
        address at once. Another browser gets a page with two buttons, which sends
        `POST /verify-email`.

        If the front end has a page for the result, the browser is redirected there with
        `status=success` or `status=error`. A second click before the link expires succeeds again.
        On `INVALID_VERIFICATION_TOKEN` or `VERIFICATION_TOKEN_EXPIRED` offer another link with
        `POST /send-verification-email`.
        """
        if self.is_head:
            return answer()
        try:
            link = self._link()
        except Fault as fault:
            return redirects.not_verified(fault, status=302)
        known = signup_cookie.is_for(self.request, link["email"])
        shown = self.shown_to_people or pages.embedded(self.request)
        if core.verify_confirm == "auto" and shown and not known:
            return self._ask(link, status=302)
        proof = known or self.wants_json
        return self._follow(lambda: self._verify(link, proof=proof))

    @operation(
        body=ConfirmEmailIn,
        answer=Verified | SignupDenied,
        redirect=_ONWARD,
        redirect_status=303,
        page="If the form comes from another site, the response is the page again.",
        faults=_FAULTS,
        id="confirmEmail",
        answered=(
            "After `confirm` the address is verified. After `deny` all access to the"
            " account was removed, because the owner of its address did not sign up."
        ),
    )
    def confirm(self) -> HttpResponse:
        """Verify an e-mail address with a mailed link, or deny the sign-up, by a button of the page

        Sent by the buttons of the page of a verification link. A front end with a page of its own
        sends `token` and `email` of the link with `decision`: `confirm` verifies the address,
        `deny` says that its owner did not sign up.

        `deny` removes all access that was set up for the account, as long as the address is not
        proven. No CSRF token is needed, because the token of the link is enough.
        """
        given = self.read(ConfirmEmailIn)
        link = {"token": given["token"], "email": given["email"]}
        if pages.posted_elsewhere(self.request):
            return self._ask(link, status=303)
        if given["decision"] == "deny":
            return self._deny(link)
        return self._follow(lambda: self._verify(link, proof=True), status=303)

    def _ask(self, link: dict[str, Any], *, status: int) -> HttpResponse:
        """The page with the buttons, or the refusal that they would get. So the page names no
        address that somebody else has written into the link."""
        try:
            verification.require_usable(**link)
        except Fault as fault:
            return redirects.not_verified(fault, status=status)
        return _page(link)

    def _verify(self, link: dict[str, Any], *, proof: bool) -> None:
        caller: Any = live_caller(self.request)
        verification.verify_email(
            **link,
            client=self.client,
            proof=proof,
            signed_up_here=signup_cookie.is_for(self.request, link["email"]),
            caller=caller.person if caller else None,
        )

    def _follow(self, verify: Callable[[], None], *, status: int = 302) -> HttpResponse:
        try:
            verify()
        except ServiceUnavailable:  # not refused: the link is still valid
            raise
        except Fault as fault:
            return redirects.not_verified(fault, status=status)
        return redirects.verified(_VERIFIED, status=status)

    def _deny(self, link: dict[str, Any]) -> HttpResponse:
        try:
            first_proof.deny(**link, client=self.client)
        except ServiceUnavailable:
            raise
        except Fault as fault:
            return redirects.not_verified(fault, status=303)
        onward = mailed_links.verified(
            "error"
        )  # the interface has only two values; this one means "not verified"
        return redirects.redirect(onward, status=303) if onward else answer(_DENIED)

    def _link(self) -> dict[str, Any]:
        """Token and address of the link. Raises a refusal."""
        try:
            return self.read_query(VerifyEmailIn)
        except ValidationFailed as wrong:  # no mailed link has such values
            raise errors.InvalidVerificationToken from wrong


def _page(link: dict[str, Any]) -> HttpResponse:
    context = {
        "token": link["token"],
        "email": link["email"],
        "action": reverse("authservice:verify-email"),
    }
    return pages.page(_PAGE, context, onward=mailed_links.verified("success"))
