"""Signing up, the link that verifies the address, and the public keys.

An attacker can sign up with the address of a victim, and a mail scanner of the victim opens the
link. So only three things count as a proof: the link is opened in the browser that signed up, which
has a cookie of the sign-up; a program requests JSON; or a person presses the button of the page
that other browsers get. Without a proof the address is verified but not proven, and the same link
can prove it later.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NotRequired, TypedDict

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse

from authservice.core import errors
from authservice.core.api import responses
from authservice.core.api.callers import signed_in_user
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.link_endpoint import LinkEndpoint
from authservice.core.api.responses import (
    Authenticated,
    Challenged,
    Sent,
    VerificationRequired,
    Verified,
)
from authservice.core.api.serializers import ConfirmEmailIn, SignupIn, VerifyEmailIn
from authservice.core.conf import core
from authservice.core.credentials import one_time
from authservice.core.login import signup
from authservice.core.messages import mailed_links
from authservice.core.recovery import first_proof, verification
from authservice.core.tokens import signing
from authservice.core.users import extra_fields, identifiers
from authservice.core.users.creation import NewUser
from authservice.kernel import secret
from authservice.kernel.errors import Fault, ServiceUnavailable, ValidationFailed, invalid
from authservice.kernel.http import envelope, incoming, pages
from authservice.kernel.http.operations import Raw, operation
from authservice.kernel.languages import phrase

_JWKS_SECONDS = 300
_COOKIE = "authservice_signup"
_PURPOSE = "sign-up-browser"
_PAGE = "authservice/pages/verify_email.html"
_ONWARD = "A redirect to the front end, if configured, with `status=success` or `status=error`."
_FAULTS = (errors.Conflict, errors.InvalidVerificationToken, errors.VerificationTokenExpired)


class Key(TypedDict):
    """A public key (RFC 7517): `OKP` has `crv` and `x`, `EC` also `y`, `RSA` has `n` and `e`."""

    kty: Literal["OKP", "EC", "RSA"]
    kid: str
    alg: Literal["EdDSA", "Ed25519", "ES256", "RS256"]
    use: Literal["sig"]
    crv: NotRequired[str]
    x: NotRequired[str]
    y: NotRequired[str]
    n: NotRequired[str]
    e: NotRequired[str]


class PublicKeys(TypedDict):
    """A JSON Web Key Set (RFC 7517 section 5)."""

    keys: list[Key]


class Signup(Endpoint):
    path = "signup"
    route = "signup"
    public = True
    throttle_scopes = {"sign_up": "signup"}

    @operation(
        "POST",
        body=SignupIn,
        answer=Authenticated | VerificationRequired | Sent,
        status=201,
        also={200: Challenged},
        faults=(
            errors.Conflict,
            errors.InvalidPassword,
            errors.PhoneAlreadyInUse,
            ServiceUnavailable,
            errors.SignupDisabled,
            errors.UserAlreadyExists,
            errors.UsernameAlreadyExists,
        ),
        id="signUp",
    )
    def sign_up(self) -> HttpResponse:
        """Create an account

        Creates an account from `password` and an `email`, a `username` or both, and signs the user
        in. Read `status` of the response:

        - `signed_in` (201): there are tokens. Store them, and send the access token in
          `Authorization: Bearer …`. A link to verify the address was mailed.
        - `verification_required` (201): the account exists, but the user must open the mailed link
          and then log in. Show that, with a button for `POST /send-verification-email`.
        - `sent` (201): the service does not reveal whether the address is free. Tell the user to
          look into the mailbox.
        - `challenge` (200): the service requires a second factor of this user, who has to set it
          up first, with `POST /2fa/setup-login`.

        400 `INVALID_PASSWORD` has a message with the rules for passwords; show it.
        `USER_ALREADY_EXISTS`, `USERNAME_ALREADY_EXISTS` and `PHONE_ALREADY_IN_USE` name the field
        that is taken. 403 `SIGNUP_DISABLED` means that only invited people get accounts. One
        network can sign up 20 times an hour.
        """
        fields = self.read(SignupIn)
        if not fields["email"] and not fields["username"]:
            raise invalid("email", phrase("Either email or username is required."))
        extra_input = self.read_extra_fields(SignupIn, extra_fields.names_at_signup())
        extra_values = extra_fields.at_signup(extra_input, self.request)
        outcome = signup.sign_up(NewUser(**fields, extra_fields=extra_values), self.client)
        if outcome is None:
            # No cookie, since it would differ by address.
            return responses.sent(responses.WRITTEN, status=201)
        response = responses.login(outcome, message=phrase("Signed up."), status=201)
        put_signup_cookie(response, fields["email"])
        return response


class KeySet(Endpoint):
    """`GET /.well-known/jwks.json` (RFC 7517 section 5), outside the envelope as every client of
    it expects."""

    path = ".well-known/jwks.json"
    route = "jwks"
    public = True

    @operation(
        "GET",
        answer=Raw(body=PublicKeys),
        answered=(
            "The keys that sign now, that will sign next, and whose tokens may still be valid."
        ),
    )
    def read_keys(self) -> HttpResponse:
        """Public keys of access tokens

        The public keys with which other services verify access tokens (RFC 7517), without the
        envelope. Cache them, and look again if a token names an unknown `kid`. The list is empty
        while tokens are signed with a shared secret.
        """
        response = JsonResponse({"keys": signing.ring().published()})
        response.headers["Cache-Control"] = f"public, max-age={_JWKS_SECONDS}"
        return response


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

    path = "verify-email"
    route = "verify-email"
    public = True
    guard_exempt = True
    takes_form = True

    @operation(
        "GET",
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
            return envelope.answer()
        try:
            link = self.read_query(VerifyEmailIn)
        except ValidationFailed:  # no mailed link has such values
            return responses.redirect_not_verified(errors.InvalidVerificationToken(), status=302)
        except Fault as fault:
            return responses.redirect_not_verified(fault, status=302)
        signed_up_here = signup_cookie_is_for(self.request, link["email"])
        # A link that another page embeds, such as an image, gets the page too and verifies nothing.
        shows_page = self.shown_to_people or incoming.embedded(self.request)
        if core.verify_confirm == "auto" and shows_page and not signed_up_here:
            return self._ask(link, status=302)
        # A client that is neither the browser of the sign-up nor asks for JSON verifies the address
        # without proving it.
        proof = signed_up_here or self.wants_json
        return self._follow(lambda: self._verify(link, proof=proof))

    @operation(
        "POST",
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
        fields = self.read(ConfirmEmailIn)
        link = {"token": fields["token"], "email": fields["email"]}
        if pages.posted_elsewhere(self.request):
            return self._ask(link, status=303)
        if fields["decision"] != "deny":
            return self._follow(lambda: self._verify(link, proof=True), status=303)
        try:
            first_proof.deny(**link, client=self.client)
        except ServiceUnavailable:
            raise
        except Fault as fault:
            return responses.redirect_not_verified(fault, status=303)
        # The front end knows only two values of `status`. "error" says that the address is not
        # verified.
        onward = mailed_links.verified("error")
        return responses.redirect_to(onward, status=303) if onward else envelope.answer(_DENIED)

    def _ask(self, link: dict[str, Any], *, status: int) -> HttpResponse:
        """The page with the buttons, or the refusal that the buttons would get: so the page names
        no address that somebody else has written into the link."""
        try:
            verification.require_usable(**link)
        except Fault as fault:
            return responses.redirect_not_verified(fault, status=status)
        context = {
            "token": link["token"],
            "email": link["email"],
            "action": reverse("authservice:verify-email"),
        }
        return pages.page(_PAGE, context, onward=mailed_links.verified("success"))

    def _verify(self, link: dict[str, Any], *, proof: bool) -> None:
        verification.verify_email(
            **link,
            client=self.client,
            proof=proof,
            signed_up_here=signup_cookie_is_for(self.request, link["email"]),
            caller=signed_in_user(self.request),
        )

    def _follow(self, verify: Callable[[], None], *, status: int = 302) -> HttpResponse:
        """Use the link, then redirect to the result, or respond with it without a front end."""
        try:
            verify()
        except ServiceUnavailable:  # not refused: the link is still valid
            raise
        except Fault as fault:
            return responses.redirect_not_verified(fault, status=status)
        return responses.redirect_verified(_VERIFIED, status=status)


def put_signup_cookie(response: HttpResponse, email: str) -> None:
    """Store a keyed digest of the address in the browser, which then opens the verification link
    without a page. It gives no access by itself."""
    if email:
        digest = secret.digest(_PURPOSE, identifiers.email_key(email))
        envelope.put_cookie(response, _COOKIE, digest, ttl=one_time.VERIFY_EMAIL.link_ttl)


def signup_cookie_is_for(request: HttpRequest, email: str) -> bool:
    """Whether this browser signed up with this address. A mail scanner has no such cookie, so a
    link that it opens proves nothing."""
    digest = envelope.get_cookie(request, _COOKIE)
    return digest.isascii() and secret.matches(_PURPOSE, identifiers.email_key(email), digest)
