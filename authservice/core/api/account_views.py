"""Routes of the logged-in user's own account, and whether an identifier is free."""

from __future__ import annotations

from typing import TypedDict

from django.http import HttpResponse

from authservice.core.api import responses
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.responses import NewDeviceToken, User
from authservice.core.api.serializers import (
    AvailabilityIn,
    ChangePasswordIn,
    ChangeUsernameIn,
    ProfileIn,
)
from authservice.core.own_account import username
from authservice.core.recovery import password_change, profile, recent_proof
from authservice.core.recovery.recent_proof import Proof
from authservice.core.users import availability, further_fields
from authservice.kernel import errors
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
        "Change the user's own name, phone number or avatar",
        body=ProfileIn,
        answer=User,
        faults=(
            errors.InvalidCredentials,
            errors.PhoneAlreadyInUse,
            errors.ReauthenticationRequired,
            errors.ServiceUnavailable,
            errors.TooManyAttempts,
        ),
    )
    def update(self) -> HttpResponse:
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
        "Change the user's own password",
        body=ChangePasswordIn,
        answer=NewDeviceToken,
        faults=(
            errors.InvalidCredentials,
            errors.InvalidPassword,
            errors.ServiceUnavailable,
            errors.TooManyAttempts,
        ),
        id="changePassword",
    )
    def change(self) -> HttpResponse:
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
        "Change the user's own username",
        body=ChangeUsernameIn,
        answer=User,
        faults=(*recent_proof.FAULTS, errors.UsernameAlreadyExists),
        id="changeUsername",
    )
    def change(self) -> HttpResponse:
        given, caller = self.read(ChangeUsernameIn), self.identity
        proof = Proof(given["password"], given["code"])
        changed = username.change(
            caller.person, caller.session, given["username"], proof, self.client
        )
        return answer(responses.own_user(changed))


class IsAvailable(Endpoint):
    public = True
    throttle_scopes = {"look_up": "is-available"}

    @operation(
        "Whether an e-mail address, username or phone number is free",
        body=AvailabilityIn,
        answer=Availability,
    )
    def look_up(self) -> HttpResponse:
        given = self.read(AvailabilityIn)
        field = self.one_of(given, *AvailabilityIn.exactly_one)
        free = availability.is_available(field, given[field])
        message = _AVAILABLE[field] if free else _TAKEN[field]
        found: Availability = {"available": free, "field": field, "message": message}
        return answer(found)
