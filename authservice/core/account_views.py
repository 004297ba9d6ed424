"""Routes of a signed-in person's own account, and whether an identifier is free."""

from __future__ import annotations

from django.http import HttpResponse

from authservice.core import answers, availability, change_password, profile
from authservice.core.serializers import AvailabilityIn, ChangePasswordIn, ProfileIn
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.views import Endpoint


class Me(Endpoint):
    def read_me(self) -> HttpResponse:
        return answer(answers.user(self.identity.person))


class Profile(Endpoint):
    def update(self) -> HttpResponse:
        # null means omitted here, as the contract says.
        self.body = {name: value for name, value in self.body.items() if value is not None}
        given = self.read(ProfileIn)
        if "phone" in given:
            given["phone_number"] = given.pop("phone")
        profile.update(self.identity.person, given, self.client)
        return answer(answers.user(self.identity.person))


class ChangePassword(Endpoint):
    def change(self) -> HttpResponse:
        given = self.read(ChangePasswordIn)
        caller = self.identity
        change_password.change(
            caller.person,
            caller.sign_in,
            given["old_password"],
            given["new_password"],
            self.client,
        )
        return answer({"message": "Password changed. All other sign-ins have ended."})


class Availability(Endpoint):
    public = True
    floods = {"look_up": "is-available"}

    def look_up(self) -> HttpResponse:
        given = self.read(AvailabilityIn)
        field = self.one_of(given, "email", "username", "phone")
        free = availability.is_free(field, given[field])
        message = f"This {field} is {'available' if free else 'taken'}."
        return answer({"available": free, "field": field, "message": message})
