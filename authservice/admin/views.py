"""Routes for super admins: `Endpoint` checks `super_admin`, which each view inherits from
`Administration`."""

from __future__ import annotations

from typing import Any, ClassVar

from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone
from rest_framework import serializers

from authservice.admin import user_list
from authservice.core import errors
from authservice.core.api import responses
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.serializers import Email, Phone, Url, Username
from authservice.core.staff import create_and_delete, support_actions, update_user
from authservice.core.users import lookup
from authservice.core.users.creation import NewUser
from authservice.core.users.person import Person
from authservice.kernel.errors import ValidationFailed
from authservice.kernel.http import fields
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.fields import TRUE_OR_FALSE, Choice, Flag, Text
from authservice.kernel.http.listing import (
    MAX_NUMBER,
    Listing,
    SortDirection,
    listing,
    page,
    without_empty,
)
from authservice.kernel.http.operations import operation
from authservice.kernel.languages import phrase

SORT_FIELDS = ("created_at", "email", "username", "name")
_CONFLICTS = (
    errors.Conflict,
    errors.UserAlreadyExists,
    errors.UsernameAlreadyExists,
    errors.PhoneAlreadyInUse,
)
_PROTECTED = (errors.CannotModifySelf, errors.LastSuperAdmin)


class QueryFlag(serializers.BooleanField):
    """A boolean in a query string: the text `true` or `false`."""

    default_error_messages = {"invalid": TRUE_OR_FALSE}

    def to_internal_value(self, data: Any) -> Any:
        if data not in ("true", "false"):
            self.fail("invalid")
        return data == "true"


class QueryMoment(fields.Moment):
    """A point in time, aware or naive like the times that the project stores."""

    def to_internal_value(self, text: Any) -> Any:
        moment = super().to_internal_value(text)
        try:
            return moment if settings.USE_TZ else timezone.make_naive(moment)
        except (ValueError, OverflowError):
            self.fail("moment")


class UsersQuery(serializers.Serializer[Any]):
    """Filters of the list of users; sorting and paging are the same in all lists."""

    query = Text(max_length=254, required=False, allow_blank=True)
    active = QueryFlag(required=False)
    email_verified = QueryFlag(required=False)
    is_super_admin = QueryFlag(required=False)
    created_after = QueryMoment(required=False)
    created_before = QueryMoment(required=False)
    last_login_before = QueryMoment(required=False)


class UsersPage(UsersQuery):
    """The filters with the parameters of all lists, declared for the API description;
    `listing.page` reads the latter."""

    offset = serializers.IntegerField(required=False, min_value=0, max_value=MAX_NUMBER, default=0)
    # A limit above `listing.MAX_LIMIT` is no error: it counts as that limit.
    limit = serializers.IntegerField(required=False, min_value=1, max_value=MAX_NUMBER, default=20)
    sort_field = Choice(SORT_FIELDS, required=False, default=SORT_FIELDS[0])
    sort_dir = SortDirection()


class NewUserIn(serializers.Serializer[Any]):
    example: ClassVar = {"email": "bob@example.com", "name": "Bob Day"}

    email = Email()
    username = Username(required=False, allow_blank=True, default="")
    name = Text(max_length=255, required=False, allow_blank=True, default="")
    first_name = Text(max_length=150, required=False, allow_blank=True, default="")
    last_name = Text(max_length=150, required=False, allow_blank=True, default="")
    phone_number = Phone(required=False, allow_blank=True, default="")


class UserIn(serializers.Serializer[Any]):
    """Each field is optional, but at least one is required. A blank e-mail address or username is
    invalid."""

    null_omits = True
    at_least_one: ClassVar = (
        *("first_name", "last_name", "name", "email", "username", "avatar", "phone_number"),
        *("active", "email_verified", "phone_number_verified", "is_super_admin"),
    )

    first_name = Text(max_length=150, required=False, allow_blank=True)
    last_name = Text(max_length=150, required=False, allow_blank=True)
    name = Text(max_length=255, required=False, allow_blank=True)
    email = Email(required=False)
    username = Username(required=False)
    avatar = Url(max_length=2048, required=False, allow_blank=True)
    phone_number = Phone(required=False, allow_blank=True)
    active = Flag(required=False)
    email_verified = Flag(required=False)
    phone_number_verified = Flag(required=False)
    is_super_admin = Flag(required=False)


class AdminUser(responses.User):
    """A user with the additional fields of the admin routes."""

    is_super_admin: bool
    token_version: int


class Changed(responses.MessageResponse):
    """The user after the change."""

    user: AdminUser


class Administration(Endpoint):
    """A route for super admins; `get_person` returns the user in the path."""

    super_admin = True

    def get_person(self, user_id: str) -> Person:
        person = lookup.find_by_id(user_id)
        if person is None:
            raise errors.UserNotFound
        return person

    def by(self) -> dict[str, Any]:
        """The actor, their session and their client."""
        caller = self.identity
        return {"by": caller.person, "session": caller.session, "client": self.client}


class Users(Administration):
    path = "admin/users"
    route = "admin-users"

    @operation("GET", query=UsersPage, answer=Listing[AdminUser], id="listUsers")
    def find(self) -> HttpResponse:
        """List users

        The users of the service. Filters can be combined: `query` (a part of a name, an address or
        a username), `active`, `email_verified`, `is_super_admin`, and times in ISO 8601. With more
        than 100,000 users `total` may be a lower bound: read on while pages are full.

        Lists come page by page: `offset`, `limit` (20, at most 100), `sort_field` and `sort_dir`.

        Only super admins may. 403 `FORBIDDEN`: the caller is not one. 403
        `REAUTHENTICATION_REQUIRED`: the service requires a second factor of super admins, and this
        session began without one; log in again.
        """
        query = without_empty(self.request.GET)
        paging = page(query, SORT_FIELDS)
        filters = user_list.UserFilter(**fields.read(UsersQuery, query))
        people, total = user_list.page_of(paging, filters)
        return answer(listing([admin_user(person) for person in people], paging, total))

    @operation(
        "POST",
        body=NewUserIn,
        answer=AdminUser,
        status=201,
        faults=(*_CONFLICTS, errors.EmailNotConfigured),
        id="createUser",
        answered="The new user, who was mailed a link to set a password.",
    )
    def create(self) -> HttpResponse:
        """Create a user and mail them a link to set a password

        Creates a user without a password, who is mailed a link to set one. The link is valid for
        seven days, and using it proves the address.

        `USER_ALREADY_EXISTS`, `USERNAME_ALREADY_EXISTS` and `PHONE_ALREADY_IN_USE` say what is
        taken. 501 `EMAIL_NOT_CONFIGURED`: the service sends no mail.

        Only super admins may. 403 `FORBIDDEN`: the caller is not one. 403
        `REAUTHENTICATION_REQUIRED`: the service requires a second factor of super admins, and this
        session began without one; log in again.
        """
        person = create_and_delete.create(NewUser(**self.read(NewUserIn)), **self.by())
        return answer(admin_user(person), status=201)


class User(Administration):
    path = "admin/users/<str:user_id>"
    route = "admin-user"

    @operation("GET", answer=AdminUser, faults=(errors.UserNotFound,), id="getUser")
    def show(self, user_id: str) -> HttpResponse:
        """Show a user

        One user, with the fields of `GET /me`, `is_super_admin` and `token_version`. 404
        `USER_NOT_FOUND`: there is no such user.

        Only super admins may. 403 `FORBIDDEN`: the caller is not one. 403
        `REAUTHENTICATION_REQUIRED`: the service requires a second factor of super admins, and this
        session began without one; log in again.
        """
        return answer(admin_user(self.get_person(user_id)))

    @operation(
        "PUT",
        body=UserIn,
        answer=Changed,
        faults=(errors.UserNotFound, *_CONFLICTS, *_PROTECTED),
        id="updateUser",
        answered="A `message`, and the user after the change.",
    )
    def change(self, user_id: str) -> HttpResponse:
        """Change a user

        Changes the fields that are sent; `null` means omitted, `""` clears names, avatar and phone
        number. A changed address or number is unverified unless the same request sets its flag. A
        changed address and `active: false` end all sessions of the user. The user is mailed about a
        changed address or number.

        400 `LAST_SUPER_ADMIN`: the service would have no super admin left. 400
        `CANNOT_MODIFY_SELF`: super admins cannot suspend themselves. Staff and superusers of the
        project can be changed only by superusers of the project (403 `FORBIDDEN`).

        Only super admins may. 403 `FORBIDDEN`: the caller is not one. 403
        `REAUTHENTICATION_REQUIRED`: the service requires a second factor of super admins, and this
        session began without one; log in again.
        """
        changes = self.read(UserIn)
        person = self.get_person(user_id)
        if not changes:
            raise ValidationFailed(phrase("At least one field to change is required."))
        update_user.update(person.user.pk, changes, **self.by())
        changed: Changed = {
            "message": phrase("User updated."),
            "user": admin_user(self.get_person(user_id)),
        }
        return answer(changed)

    @operation(
        "DELETE",
        answer=responses.MessageResponse,
        faults=(errors.UserNotFound, *_PROTECTED, errors.UserInUse),
        id="deleteUser",
        answered="The user was deleted.",
    )
    def delete(self, user_id: str) -> HttpResponse:
        """Delete a user permanently

        Deletes a user with all data that the service stores about them, permanently. Ask for a
        confirmation before; a suspension can be undone.

        409 `USER_IN_USE`: other data of the project needs the user. 400 `LAST_SUPER_ADMIN` and
        `CANNOT_MODIFY_SELF`: this user must stay. Staff and superusers of the project can be
        changed only by superusers of the project (403 `FORBIDDEN`).

        Only super admins may. 403 `FORBIDDEN`: the caller is not one. 403
        `REAUTHENTICATION_REQUIRED`: the service requires a second factor of super admins, and this
        session began without one; log in again.
        """
        create_and_delete.delete(self.get_person(user_id).user.pk, **self.by())
        return responses.message_response(phrase("User deleted."))


class Suspend(Administration):
    path = "admin/users/<str:user_id>/suspend"
    route = "admin-suspend"

    @operation(
        "POST",
        answer=responses.MessageResponse,
        faults=(errors.UserNotFound, errors.Conflict, *_PROTECTED),
        id="suspendUser",
        answered="The user is suspended, and all sessions have ended.",
    )
    def suspend(self, user_id: str) -> HttpResponse:
        """Suspend a user

        Ends all sessions of the user, who cannot log in any more. The data stays. It is undone by
        `POST /admin/users/{user_id}/reactivate`, but tokens from before remain refused.

        400 `LAST_SUPER_ADMIN` and `CANNOT_MODIFY_SELF`: this user must stay active.
        Staff and superusers of the project can be changed only by superusers of the project (403
        `FORBIDDEN`).

        Only super admins may. 403 `FORBIDDEN`: the caller is not one. 403
        `REAUTHENTICATION_REQUIRED`: the service requires a second factor of super admins, and this
        session began without one; log in again.
        """
        update_user.update(self.get_person(user_id).user.pk, {"active": False}, **self.by())
        return responses.message_response(phrase("User suspended. All sessions have ended."))


class Reactivate(Administration):
    path = "admin/users/<str:user_id>/reactivate"
    route = "admin-reactivate"

    @operation(
        "POST",
        answer=responses.MessageResponse,
        faults=(errors.UserNotFound, errors.Conflict),
        id="reactivateUser",
        answered="The user is active.",
    )
    def reactivate(self, user_id: str) -> HttpResponse:
        """Reactivate a suspended user

        Lets a suspended user log in again, with the same password and second factor. Earlier
        sessions stay ended. Staff and superusers of the project can be changed only by superusers
        of the project (403 `FORBIDDEN`).

        Only super admins may. 403 `FORBIDDEN`: the caller is not one. 403
        `REAUTHENTICATION_REQUIRED`: the service requires a second factor of super admins, and this
        session began without one; log in again.
        """
        update_user.update(self.get_person(user_id).user.pk, {"active": True}, **self.by())
        return responses.message_response(phrase("User reactivated."))


class Logout(Administration):
    path = "admin/users/<str:user_id>/logout"
    route = "admin-logout"

    @operation(
        "POST",
        answer=responses.MessageResponse,
        faults=(errors.UserNotFound,),
        id="logOutUser",
        answered="All sessions of the user have ended.",
    )
    def log_out(self, user_id: str) -> HttpResponse:
        """End all sessions of a user

        Ends all sessions of the user, for example after a device was lost. The password stays
        valid; use `POST /admin/users/{user_id}/reset-password` too if it may be known to others.

        Only super admins may. 403 `FORBIDDEN`: the caller is not one. 403
        `REAUTHENTICATION_REQUIRED`: the service requires a second factor of super admins, and this
        session began without one; log in again.
        """
        support_actions.revoke_sessions(self.get_person(user_id).user.pk, **self.by())
        return responses.message_response(phrase("All sessions of the user have ended."))


class ResetPassword(Administration):
    path = "admin/users/<str:user_id>/reset-password"
    route = "admin-reset-password"

    @operation(
        "POST",
        answer=responses.MessageResponse,
        faults=(
            errors.UserNotFound,
            errors.UserNotActive,
            ValidationFailed,
            errors.EmailNotConfigured,
        ),
        id="resetUserPassword",
        answered="The link was mailed.",
    )
    def mail_link(self, user_id: str) -> HttpResponse:
        """Mail a user a link to set a new password

        Mails the user a link to set a new password, which is valid for an hour. The old password
        works until it is used.

        403 `USER_NOT_ACTIVE`: the user is suspended. 400 `VALIDATION_ERROR`: the user has no
        address. 501 `EMAIL_NOT_CONFIGURED`: the service sends no mail.

        Only super admins may. 403 `FORBIDDEN`: the caller is not one. 403
        `REAUTHENTICATION_REQUIRED`: the service requires a second factor of super admins, and this
        session began without one; log in again.
        """
        create_and_delete.mail_reset(self.get_person(user_id), **self.by())
        return responses.message_response(phrase("A link to set a new password is on its way."))


def admin_user(person: Person) -> AdminUser:
    return {
        **responses.user(person),
        "is_super_admin": person.is_super_admin,
        "token_version": person.account.token_version,
    }
