"""Input of the routes of this module."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers

from authservice.core.api.serializers import Email, Url
from authservice.core.invitations.models import Status
from authservice.kernel.http.fields import Choice, JsonText, Text
from authservice.kernel.http.listing import MOST
from authservice.organization import invitations, members, roles, slugs
from authservice.organization.models import METADATA, NAME, SLUG, URL

_UUID = 36  # characters


class Slug(Text):
    default_error_messages = dict.fromkeys(("slug", "max_length"), slugs.RULE)
    described: ClassVar = {"pattern": f"^{slugs.FORM.pattern}$"}

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=SLUG, trim_whitespace=False, **options)

    def to_internal_value(self, data: str) -> str:
        text = super().to_internal_value(data)
        if not slugs.is_slug(text):
            self.fail("slug")
        return text


class OrganizationIn(serializers.Serializer[Any]):
    example: ClassVar = {"name": "Acme", "slug": "acme"}

    name = Text(max_length=NAME)
    slug = Slug(required=False, allow_blank=True, default="")


class OrganizationChangesIn(serializers.Serializer[Any]):
    null_omits: ClassVar = True
    at_least_one: ClassVar = ("name", "logo_url", "metadata")
    example: ClassVar = {"name": "Acme Limited"}

    name = Text(max_length=NAME, required=False)
    logo_url = Url(max_length=URL, required=False, allow_blank=True)
    metadata = JsonText(max_length=METADATA, required=False, allow_blank=True)


class SwitchIn(serializers.Serializer[Any]):
    org_id = Text(max_length=_UUID)


class RoleIn(serializers.Serializer[Any]):
    role = Choice(list(roles.ROLES))


class InvitationIn(serializers.Serializer[Any]):
    example: ClassVar = {"email": "bob@example.com", "role": "member"}

    email = Email()
    role = Choice(list(roles.ROLES), required=False, default=roles.DEFAULT)


class ListQuery(serializers.Serializer[Any]):
    """The parameters of all lists, declared for the API description. Without `limit` a list has all
    rows."""

    query = Text(max_length=254, required=False, allow_blank=True, default="")
    offset = serializers.IntegerField(required=False, min_value=0, max_value=MOST, default=0)
    limit = serializers.IntegerField(required=False, min_value=1, max_value=MOST)
    sort_dir = Choice(("asc", "desc"), required=False, default="desc")


class MembersQuery(ListQuery):
    sort_field = Choice(list(members.SORT_FIELDS), required=False, default="joined_at")


class InvitationsFilter(serializers.Serializer[Any]):
    """The filters of the list of an organization's invitations."""

    query = Text(max_length=254, required=False, allow_blank=True, default="")
    status = Choice(Status.values, required=False)


class OwnInvitationsQuery(serializers.Serializer[Any]):
    """The list of a recipient has no filters."""

    offset = serializers.IntegerField(required=False, min_value=0, max_value=MOST, default=0)
    limit = serializers.IntegerField(required=False, min_value=1, max_value=MOST)
    sort_dir = Choice(("asc", "desc"), required=False, default="desc")
    sort_field = Choice(list(invitations.SORT_FIELDS), required=False, default="created_at")


class InvitationsQuery(OwnInvitationsQuery, InvitationsFilter):
    """The list of an organization."""
