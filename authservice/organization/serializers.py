"""Input of the routes of this module."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers

from authservice.core.api.serializers import Email, OwnRefreshToken, Url
from authservice.core.invitations.models import Status
from authservice.kernel.http.fields import Choice, JsonText, Text
from authservice.kernel.http.listing import ArrayQuery, SortDirection
from authservice.kernel.settings import early
from authservice.organization import invitations, members, organizations, roles
from authservice.organization.conf import NAME, conf
from authservice.organization.models import METADATA, SLUG, URL

_UUID = 36  # characters


class Slug(Text):
    default_error_messages = dict.fromkeys(("slug", "max_length"), organizations.RULE)
    described: ClassVar = {"pattern": f"^{organizations.FORM.pattern}$"}

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=SLUG, trim_whitespace=False, **options)

    def to_internal_value(self, data: str) -> str:
        text = super().to_internal_value(data)
        if not organizations.is_slug(text):
            self.fail("slug")
        return text


class Metadata(JsonText):
    """JSON text of the project. The setting is read for each serializer."""

    def __init__(self, **options: Any) -> None:
        longest = early(lambda: conf.metadata_max, METADATA)
        super().__init__(max_length=longest, **options)


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
    metadata = Metadata(required=False, allow_blank=True)


class SwitchIn(serializers.Serializer[Any]):
    org_id = Text(max_length=_UUID)
    refresh_token = OwnRefreshToken()


class RoleChoice(Choice):
    """A role of the table, read for each serializer: the table depends on the settings."""

    def __init__(self, **options: Any) -> None:
        super().__init__(list(roles.table()), component="Role", **options)


class RoleIn(serializers.Serializer[Any]):
    role = RoleChoice()


class InvitationIn(serializers.Serializer[Any]):
    example: ClassVar = {"email": "bob@example.com", "role": "member"}

    email = Email()
    role = RoleChoice(required=False, default=roles.DEFAULT)


class ListQuery(ArrayQuery):
    """The parameters of all lists."""

    query = Text(max_length=254, required=False, allow_blank=True, default="")
    sort_dir = SortDirection()


class MembersQuery(ListQuery):
    sort_field = Choice(list(members.SORT_FIELDS), required=False, default="joined_at")


class InvitationsFilter(serializers.Serializer[Any]):
    """The filters of the list of an organization's invitations."""

    query = Text(max_length=254, required=False, allow_blank=True, default="")
    status = Choice(Status.values, component="InvitationStatus", required=False)


class OwnInvitationsQuery(ArrayQuery):
    """The list of a recipient has no filters."""

    sort_dir = SortDirection()
    sort_field = Choice(list(invitations.SORT_FIELDS), required=False, default="created_at")


class InvitationsQuery(OwnInvitationsQuery, InvitationsFilter):
    """The list of an organization."""
