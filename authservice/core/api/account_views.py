"""Routes of the logged-in user's own account: profile, password, username and e-mail address; and
whether an identifier is free.

Mail scanners open every link, and the reader of a new mailbox may be another person. So the link to
a new address acts on a GET request only in the browser that asked for it; every other browser gets
a page that names the account.
"""

from __future__ import annotations

from typing import TypedDict

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from authservice.core import errors
from authservice.core.api import responses
from authservice.core.api.callers import signed_in_user
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.link_endpoint import LinkEndpoint, ToConfirm
from authservice.core.api.responses import MessageResponse, NewDeviceToken, User, Verified
from authservice.core.api.serializers import (
    AvailabilityIn,
    ChangeEmailIn,
    ChangePasswordIn,
    ChangeUsernameIn,
    ProfileIn,
    TokenIn,
)
from authservice.core.conf import core
from authservice.core.messages import mailed_links
from authservice.core.own_account import email_change
from authservice.core.own_account.email_change import CHANGE_EMAIL
from authservice.core.recovery import password_change, profile, recent_proof, verification
from authservice.core.recovery.recent_proof import Proof
from authservice.core.users import extra_fields, identifiers, lookup
from authservice.core.users.person import Person
from authservice.kernel import secret
from authservice.kernel.errors import (
    Fault,
    ReauthenticationRequired,
    ServiceUnavailable,
    TooManyAttempts,
    ValidationFailed,
)
from authservice.kernel.http import envelope, incoming, pages
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.operations import carries, operation
from authservice.kernel.languages import phrase
from authservice.kernel.secret import Secret

_AVAILABLE = {
    "email": phrase("This email is available."),
    "username": phrase("This username is available."),
    "phone": phrase("This phone is available."),
}
_TAKEN = {
    "email": phrase("This email is taken."),
    "username": phrase("This username is taken."),
    "phone": phrase("This phone is taken."),
}

_EMAIL_COOKIE = "authservice_change_email"
_EMAIL_PURPOSE = "change-email-browser"
_EMAIL_REQUESTED = phrase("A message to the new address says what to do next.")
_EMAIL_SAME = phrase("This is the address of the account. Its spelling is stored.")
_EMAIL_CHANGED: Verified = {"message": phrase("E-mail address changed."), "status": "success"}
_EMAIL_PAGE = "authservice/pages/change_email.html"
_EMAIL_ONWARD = (
    "A redirect to the front end, if configured, with `status=success` or `status=error`."
)
_EMAIL_FAULTS = (
    errors.Conflict,
    errors.InvalidVerificationToken,
    errors.VerificationTokenExpired,
)


class Availability(TypedDict):
    """Whether an identifier of the kind `field` is free."""

    available: bool
    field: str
    message: str


class Profile(Endpoint):
    path = "profile"
    route = "profile"
    strict_in_part = frozenset({"update"})

    @operation(
        "PUT",
        "PATCH",
        body=ProfileIn,
        answer=User,
        faults=(
            errors.Conflict,
            errors.InvalidCredentials,
            errors.PhoneAlreadyInUse,
            ReauthenticationRequired,
            ServiceUnavailable,
            TooManyAttempts,
        ),
        answered="The user after the change.",
    )
    def update(self) -> HttpResponse:
        """Change the user's own name, phone number or avatar

        Changes the fields that are sent: `name`, `avatar` (a web address) and `phone` (E.164, such
        as `+491701234567`). `null` and a missing field change nothing, `""` clears. PUT and PATCH
        do the same.

        A changed number is not verified: call `POST /send-verification-phone`. A number that was
        sent with the current `password` can reset the password as soon as it is verified; another
        one can 72 hours later.

        400 `PHONE_ALREADY_IN_USE`: another account has verified the number. 403
        `REAUTHENTICATION_REQUIRED`: send `password` too. An account can change its number five
        times a day (429 `TOO_MANY_REQUESTS`).
        """
        fields, caller = self.read(ProfileIn), self.identity
        password = fields.pop("password", profile.NO_PASSWORD)
        if "phone" in fields:
            self.require_proven_if_strict()
            fields["phone_number"] = fields.pop("phone")
        extra_input = self.read_extra_fields(ProfileIn, extra_fields.names_of_profile())
        extra_values = extra_fields.of_profile(caller.person.user, extra_input, self.request)
        updated = profile.update(
            caller.person,
            caller.session,
            fields,
            self.client,
            password=password,
            extra_fields=extra_values,
        )
        return answer(responses.own_user(updated))


class ChangePassword(Endpoint):
    path = "change-password"
    route = "change-password"

    @operation(
        "PUT",
        body=ChangePasswordIn,
        answer=NewDeviceToken,
        faults=(
            errors.Conflict,
            errors.InvalidCredentials,
            errors.InvalidPassword,
            ServiceUnavailable,
            TooManyAttempts,
        ),
        id="changePassword",
        answered=(
            "The password was changed. The header has a new device token; earlier ones are revoked."
        ),
    )
    def change(self) -> HttpResponse:
        """Change the user's own password

        Sets a new password for a user who knows the current one. This session stays valid and every
        other one ends, so the client keeps its tokens. It stores the new `X-Device-Token`, because
        earlier ones are revoked. The owner gets a mail.

        401 `INVALID_CREDENTIALS`: `old_password` is wrong; do not treat this 401 as an ended
        session. 400 `INVALID_PASSWORD`: show the message, which has the rules. 429
        `TOO_MANY_ATTEMPTS`: wait for `Retry-After`. A user without a password sets one with
        `POST /forgot-password`.
        """
        fields = self.read(ChangePasswordIn)
        caller = self.identity
        device_token = password_change.change(
            caller.person,
            caller.session,
            fields["old_password"],
            fields["new_password"],
            self.client,
        )
        message = phrase("Password changed. All other sessions have ended.")
        response = responses.message_response(message)
        responses.hand_out_device(response, device_token)
        return response


class ChangeUsername(Endpoint):
    path = "change-username"
    route = "change-username"

    @operation(
        "PUT",
        body=ChangeUsernameIn,
        answer=User,
        faults=(*recent_proof.FAULTS, errors.Conflict, errors.UsernameAlreadyExists),
        id="changeUsername",
        answered="The user after the change.",
    )
    def change(self) -> HttpResponse:
        """Change the user's own username

        Changes the username: 3 to 30 of the characters `A-Z`, `a-z`, `0-9`, `_`, `.` and `-`.
        Sessions stay valid, and the user logs in with the new name from now on.

        Send a proof of the owner: the current `password`, and `code` of the second factor if one is
        enabled. A user without a password sends neither, but must have logged in at most 10 minutes
        ago. 403 `REAUTHENTICATION_REQUIRED`: ask for the password, or for another login. 401
        `INVALID_CREDENTIALS` and `TWO_FACTOR_INVALID`: the password or the code is wrong. 429
        `TOO_MANY_ATTEMPTS`: wait for `Retry-After`.

        400 `USERNAME_ALREADY_EXISTS`: the name is taken, in whatever case.
        """
        fields, caller = self.read(ChangeUsernameIn), self.identity
        proof = Proof(fields["password"], fields["code"])
        updated = profile.change_username(
            caller.person, caller.session, fields["username"], proof, self.client
        )
        return answer(responses.own_user(updated))


class IsAvailable(Endpoint):
    path = "is-available"
    route = "is-available"
    public = True
    throttle_scopes = {"look_up": "is-available"}

    @operation(
        "POST",
        body=AvailabilityIn,
        answer=Availability,
        id="checkAvailability",
        answered=(
            "Whether the identifier is free: `available`, with the name of the `field`"
            " and a `message` that a form can show."
        ),
    )
    def look_up(self) -> HttpResponse:
        """Whether an e-mail address, username or phone number is free

        Says whether an e-mail address, a username or a phone number can be used for a new account.
        Send exactly one of the three, for example when the user leaves a field of the form. The
        result is not a reservation, so handle the errors of the sign-up in any case.

        One network can send 30 requests a minute; 429 `TOO_MANY_REQUESTS` has `Retry-After`.
        """
        fields = self.read(AvailabilityIn)
        field = self.one_of(fields, *AvailabilityIn.exactly_one)
        free = lookup.is_available(field, fields[field])
        message = _AVAILABLE[field] if free else _TAKEN[field]
        availability: Availability = {"available": free, "field": field, "message": message}
        return answer(availability)


@carries("Set-Cookie")
class EmailChangeRequested(MessageResponse):
    """The response is the same for a free and a taken address if `SIGNUP_ENUMERATION` is `"hide"`.
    The cookie lets this browser follow the link without a further step."""


class ChangeEmail(Endpoint):
    path = "change-email"
    route = "change-email"
    strict_actions = frozenset({"ask"})

    @operation(
        "POST",
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
        fields, caller = self.read(ChangeEmailIn), self.identity
        proof = Proof(fields["password"], fields["code"])
        email = fields["email"]
        differs = email_change.request(caller.person, caller.session, email, proof, self.client)
        response = responses.message_response(_EMAIL_REQUESTED if differs else _EMAIL_SAME)
        put_change_cookie(response, caller.person, email)
        return response


class ConfirmEmailChange(LinkEndpoint):
    """A link in a mail: redirects browsers to the front end if one is configured."""

    path = "change-email/confirm"
    route = "confirm-email-change"
    public = True
    guard_exempt = True
    takes_form = True

    @operation(
        "GET",
        query=TokenIn,
        # None for a HEAD request: the token is not spent.
        answer=Verified | ToConfirm | None,
        redirect=_EMAIL_ONWARD,
        page="Unless `CORE.VERIFY_CONFIRM` is off, a browser that did not send the request gets a"
        " page.",
        faults=_EMAIL_FAULTS,
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
            token: Secret = self.read_query(TokenIn)["token"]
        except ValidationFailed:  # no mailed link has such a token
            return responses.redirect_not_verified(errors.InvalidVerificationToken(), status=302)
        try:
            person, email = email_change.find(token)
        except Fault as fault:
            return responses.redirect_not_verified(fault, status=302)
        embedded = incoming.embedded(self.request)
        requested_here = change_cookie_is_for(self.request, person, email) and not embedded
        if core.verify_confirm == "off" or requested_here:
            # Proof that a human acts: mail scanners have no such cookie and do not ask for JSON.
            return self._confirm(token, proof=requested_here or self.wants_json, status=302)
        if self.shown_to_people or embedded:
            return _page(token, person, email)
        status: ToConfirm = {"status": "confirm"}
        return answer(status)

    @operation(
        "POST",
        body=TokenIn,
        answer=Verified,
        redirect=_EMAIL_ONWARD,
        redirect_status=303,
        page="If the form comes from another site, the response is the page again.",
        faults=_EMAIL_FAULTS,
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
                return _page(token, *email_change.find(token))
            except Fault as fault:
                return responses.redirect_not_verified(fault, status=303)
        return self._confirm(token, proof=True, status=303)

    def _confirm(self, token: Secret, *, proof: bool, status: int) -> HttpResponse:
        try:
            email_change.confirm(token, self.client, proof=proof, own=self._is_own)
        except ServiceUnavailable:  # not refused: the link is still valid
            raise
        except Fault as fault:
            return responses.redirect_not_verified(fault, status=status)
        return responses.redirect_verified(_EMAIL_CHANGED, status=status)

    def _is_own(self, person: Person, email: str) -> bool:
        """Whether this request comes from the browser that requested the change, or from a session
        of this user."""
        if change_cookie_is_for(self.request, person, email):
            return True
        return verification.is_same(person, signed_in_user(self.request))


def put_change_cookie(response: HttpResponse, person: Person, email: str) -> None:
    """Store a keyed digest of account and address in the browser. It gives no access by itself."""
    digest = secret.digest(_EMAIL_PURPOSE, _change_of(person, email))
    envelope.put_cookie(response, _EMAIL_COOKIE, digest, ttl=CHANGE_EMAIL.link_ttl)


def change_cookie_is_for(request: HttpRequest, person: Person, email: str) -> bool:
    """Whether this browser requested this address for this account."""
    digest = envelope.get_cookie(request, _EMAIL_COOKIE)
    return digest.isascii() and secret.matches(_EMAIL_PURPOSE, _change_of(person, email), digest)


def _change_of(person: Person, email: str) -> str:
    return f"{person.id}|{identifiers.email_key(email)}"


def _page(token: Secret, person: Person, email: str) -> HttpResponse:
    context = {
        "token": token,
        "account": person.email or person.username,
        "email": email,
        "action": reverse("authservice:confirm-email-change"),
    }
    return pages.page(_EMAIL_PAGE, context, onward=mailed_links.verified("success"))
