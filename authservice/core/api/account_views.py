"""Routes of the logged-in user's own account, and whether an identifier is free."""

from __future__ import annotations

from typing import TypedDict

from django.http import HttpResponse

from authservice.core import errors
from authservice.core.api import responses
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.responses import NewDeviceToken, User
from authservice.core.api.serializers import (
    AvailabilityIn,
    ChangePasswordIn,
    ChangeUsernameIn,
    ProfileIn,
)
from authservice.core.recovery import password_change, profile, recent_proof
from authservice.core.recovery.recent_proof import Proof
from authservice.core.users import further_fields, lookup
from authservice.kernel.errors import ReauthenticationRequired, ServiceUnavailable, TooManyAttempts
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.operations import operation
from authservice.kernel.phrases import phrase

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


class Availability(TypedDict):
    """Whether an identifier of the kind `field` is free."""

    available: bool
    field: str
    message: str


class Profile(Endpoint):
    @operation(
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
        given, caller = self.read(ProfileIn), self.identity
        password = given.pop("password", profile.NO_PASSWORD)
        if "phone" in given:
            given["phone_number"] = given.pop("phone")
        rest = self.further(ProfileIn, further_fields.names_of_profile())
        further = further_fields.of_profile(caller.person.user, rest, self.request)
        updated = profile.update(
            caller.person, caller.session, given, self.client, password=password, further=further
        )
        return answer(responses.own_user(updated))


class ChangePassword(Endpoint):
    @operation(
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
        given = self.read(ChangePasswordIn)
        caller = self.identity
        device_token = password_change.change(
            caller.person,
            caller.session,
            given["old_password"],
            given["new_password"],
            self.client,
        )
        message = phrase("Password changed. All other sessions have ended.")
        response = responses.message_response(message)
        responses.hand_out_device(response, device_token)
        return response


class ChangeUsername(Endpoint):
    @operation(
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
        given, caller = self.read(ChangeUsernameIn), self.identity
        proof = Proof(given["password"], given["code"])
        changed = profile.change_username(
            caller.person, caller.session, given["username"], proof, self.client
        )
        return answer(responses.own_user(changed))


class IsAvailable(Endpoint):
    public = True
    throttle_scopes = {"look_up": "is-available"}

    @operation(
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
        given = self.read(AvailabilityIn)
        field = self.one_of(given, *AvailabilityIn.exactly_one)
        free = lookup.is_available(field, given[field])
        message = _AVAILABLE[field] if free else _TAKEN[field]
        found: Availability = {"available": free, "field": field, "message": message}
        return answer(found)
