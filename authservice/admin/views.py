"""Routes for super admins. Each view sets `super_admin`, and the base view checks it."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse

from authservice.admin import user_list
from authservice.admin.serializers import SORT_FIELDS, NewUserIn, UserIn, UsersPage, UsersQuery
from authservice.core.api import responses
from authservice.core.api.endpoint import Endpoint
from authservice.core.staff import create_user, delete_user, revoke_sessions, update_user
from authservice.core.users import lookup
from authservice.core.users.creation import NewUser
from authservice.core.users.person import Person
from authservice.kernel import errors
from authservice.kernel.http import fields
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.listing import Listing, given, listing, page
from authservice.kernel.http.operations import operation
from authservice.kernel.phrases import phrase

_TAKEN = (errors.UserAlreadyExists, errors.UsernameAlreadyExists, errors.PhoneAlreadyInUse)
_PROTECTED = (errors.CannotModifySelf, errors.LastSuperAdmin)


class AdminUser(responses.User):
    """A user with the additional fields of the admin routes."""

    is_super_admin: bool
    token_version: int


class Changed(responses.MessageResponse):
    """The user after the change."""

    user: AdminUser


class Administration(Endpoint):
    """A route for super admins; `found` returns the user in the path."""

    super_admin = True

    def found(self, user_id: str) -> Person:
        person = lookup.find_by_id(user_id)
        if person is None:
            raise errors.UserNotFound
        return person

    def by(self) -> dict[str, Any]:
        """The actor, their session and their client."""
        caller = self.identity
        return {"by": caller.person, "session": caller.session, "client": self.client}


class Users(Administration):
    @operation("List users", query=UsersPage, answer=Listing[AdminUser])
    def find(self) -> HttpResponse:
        query = given(self.request.GET)
        wanted = page(query, SORT_FIELDS)
        filters = user_list.UserFilter(**fields.read(UsersQuery, query))
        people, total = user_list.page_of(wanted, filters)
        return answer(listing([admin_user(person) for person in people], wanted, total))

    @operation(
        "Create a user and mail them a link to set a password",
        body=NewUserIn,
        answer=AdminUser,
        status=201,
        faults=(*_TAKEN, errors.EmailNotConfigured),
        id="createAdminUser",
    )
    def create(self) -> HttpResponse:
        person = create_user.create(NewUser(**self.read(NewUserIn)), **self.by())
        return answer(admin_user(person), status=201)


class User(Administration):
    @operation("Show a user", answer=AdminUser, faults=(errors.UserNotFound,))
    def show(self, user_id: str) -> HttpResponse:
        return answer(admin_user(self.found(user_id)))

    @operation(
        "Change a user",
        body=UserIn,
        answer=Changed,
        faults=(errors.UserNotFound, *_TAKEN, *_PROTECTED),
    )
    def change(self, user_id: str) -> HttpResponse:
        wanted = self.read(UserIn)
        person = self.found(user_id)
        if not wanted:
            raise errors.ValidationFailed(phrase("At least one field to change is required."))
        update_user.update(person.user.pk, wanted, **self.by())
        changed: Changed = {
            "message": phrase("User updated."),
            "user": admin_user(self.found(user_id)),
        }
        return answer(changed)

    @operation(
        "Delete a user permanently",
        answer=responses.MessageResponse,
        faults=(errors.UserNotFound, *_PROTECTED, errors.UserInUse),
    )
    def delete(self, user_id: str) -> HttpResponse:
        delete_user.delete(self.found(user_id).user.pk, **self.by())
        return responses.message_response(phrase("User deleted."))


class Suspend(Administration):
    @operation(
        "Suspend a user",
        answer=responses.MessageResponse,
        faults=(errors.UserNotFound, *_PROTECTED),
    )
    def suspend(self, user_id: str) -> HttpResponse:
        update_user.update(self.found(user_id).user.pk, {"active": False}, **self.by())
        return responses.message_response(phrase("User suspended. All sessions have ended."))


class Reactivate(Administration):
    @operation(
        "Reactivate a suspended user",
        answer=responses.MessageResponse,
        faults=(errors.UserNotFound,),
    )
    def reactivate(self, user_id: str) -> HttpResponse:
        update_user.update(self.found(user_id).user.pk, {"active": True}, **self.by())
        return responses.message_response(phrase("User reactivated."))


class Logout(Administration):
    @operation(
        "End all sessions of a user",
        answer=responses.MessageResponse,
        faults=(errors.UserNotFound,),
    )
    def log_out(self, user_id: str) -> HttpResponse:
        revoke_sessions.revoke(self.found(user_id).user.pk, **self.by())
        return responses.message_response(phrase("All sessions of the user have ended."))


class ResetPassword(Administration):
    @operation(
        "Mail a user a link to set a new password",
        answer=responses.MessageResponse,
        faults=(
            errors.UserNotFound,
            errors.UserNotActive,
            errors.ValidationFailed,
            errors.EmailNotConfigured,
        ),
    )
    def mail_link(self, user_id: str) -> HttpResponse:
        create_user.mail_reset(self.found(user_id), **self.by())
        return responses.message_response(phrase("A link to set a new password is on its way."))


def admin_user(person: Person) -> AdminUser:
    return {
        **responses.user(person),
        "is_super_admin": person.is_super_admin,
        "token_version": person.account.token_version,
    }
