"""What a result page says, by route and outcome."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.utils.translation import gettext_lazy as _

from authservice.kernel.link_pages import ResultPage


class Words(NamedTuple):
    """`text` may be the message of the API."""

    heading: Any
    text: Any


_SIGNED_IN = Words(_("You are signed in"), _("You can close this page."))
_ACCEPTED = _("Invitation accepted")
_DONE = {
    "reset-password": Words(
        _("Your password was changed"),
        _(
            "Everybody who was signed in to your account was signed out. Sign in with the new"
            " password."
        ),
    ),
    "invitation-accept": Words(_ACCEPTED, _("You can sign in now.")),
    "org-invitation-accept": Words(_ACCEPTED, _("You are a member now, and can sign in.")),
    "verify-email": Words(_("Your e-mail address is confirmed"), _("You can close this page.")),
    "confirm-email-change": Words(
        _("Your e-mail address was changed"), _("You can close this page.")
    ),
    "oauth-callback": Words(_("The way to sign in was linked"), _("You can close this page.")),
    "secure-account": Words(
        _("The change was undone"),
        _("Choose a new password: a mail with a link is on its way to you."),
    ),
}
_ACCEPTED_SIGNED_IN = Words(_ACCEPTED, _("You are signed in."))
_ACCEPTED_FACTOR = Words(
    _ACCEPTED,
    _("Your account has a second factor. You will be asked for its code when you sign in."),
)
_ACCEPTED_SET_UP = Words(
    _ACCEPTED, _("When you sign in, you will be asked to set up a second factor.")
)
_FACTOR = Words(
    _("One more step"),
    _(
        "Your account needs a second factor. Sign in where you usually do, and enter its code or"
        " set one up."
    ),
)
_DENIED = Words(
    _("The sign-up was undone"),
    _("All access to the account was removed, and your address is not confirmed."),
)
_EXPIRED = Words(_("This link has expired"), _("Ask for a new one where you got this one."))
_INVALID = Words(
    _("This link does not work"),
    _(
        "It was used before, a newer one was sent, or a part of its address is missing. Ask for a"
        " new one where you got this one."
    ),
)
_FAILED = {
    "TOKEN_EXPIRED": _EXPIRED,
    "VERIFICATION_TOKEN_EXPIRED": _EXPIRED,
    "INVITATION_EXPIRED": _EXPIRED,
    "INVALID_TOKEN": _INVALID,
    "INVALID_VERIFICATION_TOKEN": _INVALID,
    "VALIDATION_ERROR": _INVALID,
    "INVITATION_NOT_FOUND": _INVALID,
    "INVITATION_NOT_PENDING": Words(
        _("This invitation is closed"),
        _("It was accepted, declined or withdrawn before."),
    ),
    "TOO_MANY_REQUESTS": Words(_("Too many requests"), _("Wait a few minutes and try again.")),
    "SERVICE_UNAVAILABLE": Words(
        _("The service is not available"), _("Wait a few minutes and try again.")
    ),
    "INTERNAL_ERROR": Words(
        _("Something went wrong"), _("The error was recorded. Try again later.")
    ),
}


def of(page: ResultPage) -> Words:
    """The heading and the text for the result of a route."""
    if page.code:
        return _FAILED.get(page.code, Words(_("This did not work"), page.message))
    if page.outcome == "denied":
        return _DENIED
    invited = page.route.endswith("invitation-accept")
    if page.challenge:
        factor = _ACCEPTED_SET_UP if page.challenge == "2fa_setup" else _ACCEPTED_FACTOR
        return factor if invited else _FACTOR
    if invited and page.keeps_login:
        return _ACCEPTED_SIGNED_IN
    return _DONE.get(page.route, _SIGNED_IN)


def is_of_link(page: ResultPage) -> bool:
    """Whether the link does not work, so that a new one would help."""
    return _FAILED.get(page.code) in (_EXPIRED, _INVALID)
