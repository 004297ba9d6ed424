"""Input of the routes for super admins."""

from __future__ import annotations

from typing import Any, ClassVar

from django.conf import settings
from django.utils import timezone
from rest_framework import serializers

from authservice.core.api.serializers import Email, Phone, Url, Username
from authservice.kernel.http.fields import TRUE_OR_FALSE, Choice, Flag, Moment, Text
from authservice.kernel.http.listing import MOST

SORT_FIELDS = ("created_at", "email", "username", "name")


class QueryFlag(serializers.BooleanField):
    """A boolean in a query string: the text `true` or `false`."""

    default_error_messages = {"invalid": TRUE_OR_FALSE}

    def to_internal_value(self, data: Any) -> Any:
        if data not in ("true", "false"):
            self.fail("invalid")
        return data == "true"


class QueryMoment(Moment):
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

    offset = serializers.IntegerField(required=False, min_value=0, max_value=MOST, default=0)
    limit = serializers.IntegerField(required=False, min_value=1, max_value=MOST, default=20)
    sort_field = Choice(SORT_FIELDS, required=False, default=SORT_FIELDS[0])
    sort_dir = Choice(("asc", "desc"), required=False, default="desc")


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
