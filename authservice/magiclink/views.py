"""Routes of this module, and the page that keeps scanners of mail from using a link up.

A scanner fetches every link of a mail, often as a browser would; a person pushes the button. Who
asked for the link in the same browser needs none, nor does a program that wants data. A page of
somebody else cannot push it: its visitors would be signed in as whoever the link is for.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django.http import HttpResponse
from django.urls import reverse
from django.utils.crypto import constant_time_compare

from authservice.core import answers, delivery, identity
from authservice.core.answers import Authenticated, Challenged, Said
from authservice.core.people import Person
from authservice.core.serializers import EmailIn
from authservice.kernel import crypto, errors, templates
from authservice.kernel.http import cookies
from authservice.kernel.http.authentication import live_caller
from authservice.kernel.http.body import FORM
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.operations import carries, operation
from authservice.kernel.http.views import Endpoint
from authservice.magiclink import entering
from authservice.magiclink.conf import conf
from authservice.magiclink.letters import VERIFY
from authservice.magiclink.serializers import CodeIn, TokenIn

# One answer for every address, known or not.
_SENT = "If this address can sign in, a message with a link and a code is on its way."
_DONE = "Signed in."
_COOKIE = "authservice_magiclink"
_PAGE = "authservice/magiclink/confirm.html"
_ONWARD = "The front end, with tokens, a challenge or an error in the fragment, where one is set."


@carries("Set-Cookie")
class Asked(Said):
    """The same for every address."""


class Send(Endpoint):
    public = True

    @operation(
        "Ask for a link and a code to sign in",
        body=EmailIn,
        answer=Asked,
        faults=(errors.EmailNotConfigured,),
    )
    def send(self) -> HttpResponse:
        email = self.read(EmailIn)["email"]
        entering.ask(email, self.client)
        response = answers.said(_SENT)
        if conf.confirm == "auto":
            kept = _trace(identity.email_key(email))
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
        outcome = entering.by_code(client=self.client, caller=_caller(self), **given)
        return answers.login(outcome, message=_DONE)


class Verify(Endpoint):
    public = True
    unguarded = True
    takes_form = True

    @operation(
        "Sign in with a mailed link",
        query=TokenIn,
        # None where a browser fetches ahead of its user: nothing was spent.
        answer=Authenticated | Challenged | None,
        redirect=_ONWARD,
        page="With `MAGICLINK.CONFIRM`, a page with a button to a browser that did not ask.",
        faults=(errors.InvalidLink, errors.LinkExpired, errors.PhoneNotVerified),
        id="followMagicLink",
    )
    def follow(self) -> HttpResponse:
        if self.looking_ahead:
            return answer()
        token = self.request.GET.get("token", "")
        unasked = self.shown_to_people or self._embedded
        if conf.confirm == "auto" and unasked and not self._asked_here(token):
            return _page(token)
        return self._enter(token)

    @operation(
        "Sign in with a mailed link, by the button of its page",
        body=TokenIn,
        answer=Authenticated | Challenged,
        redirect=_ONWARD,
        page="With `MAGICLINK.CONFIRM`, the page anew where the form is another site's.",
        faults=(errors.InvalidLink, errors.LinkExpired, errors.PhoneNotVerified),
        id="confirmMagicLink",
    )
    def confirm(self) -> HttpResponse:
        token = self.read(TokenIn)["token"]
        if conf.confirm == "auto" and self._pushed_elsewhere:
            return _page(token)
        return self._enter(token)

    def _enter(self, token: str) -> HttpResponse:
        try:
            outcome = entering.by_link(token, self.client, caller=_caller(self))
        except errors.Fault as fault:
            return delivery.refusal(fault, to=conf.callback_url)
        return delivery.login(outcome, to=conf.callback_url, message=_DONE)

    @property
    def _embedded(self) -> bool:
        """Whether a page fetches the link as a picture or the like, with no way to read it."""
        return bool(self.request.META.get("HTTP_SEC_FETCH_MODE") == "no-cors")

    @property
    def _pushed_elsewhere(self) -> bool:
        """Whether the button stands on another site's page. Its browser says so, and no page can
        make it say otherwise; JSON cannot be sent from there unasked (Fetch standard, CORS)."""
        site = self.request.META.get("HTTP_SEC_FETCH_SITE", "")
        return self.request.content_type == FORM and site in ("same-site", "cross-site")

    def _asked_here(self, token: str) -> bool:
        kept = cookies.get(self.request, _COOKIE)
        target = entering.target_of(token) if kept else ""
        return bool(target) and constant_time_compare(kept, _trace(target))


def _trace(email_key: str) -> str:
    """What a browser keeps of an address it asked with. It opens nothing."""
    return crypto.digest("magic-link-browser", email_key)


def _caller(view: Endpoint) -> Person | None:
    caller: Any = live_caller(view.request)
    return caller.person if caller else None


def _page(token: str) -> HttpResponse:
    context = {"token": token, "action": reverse(f"authservice:{VERIFY}")}
    response = HttpResponse(templates.render(_PAGE, context))
    response.headers["Cache-Control"] = "no-store"
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["X-Robots-Tag"] = "noindex"
    # Browsers hold the redirect that answers the form against `form-action` too.
    response.headers["Content-Security-Policy"] = (
        "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
        f" form-action 'self' {_origin(conf.callback_url)};"
        " frame-ancestors 'none'; base-uri 'none'"
    )
    return response


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}" if url else ""
