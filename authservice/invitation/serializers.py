"""Request bodies and query parameters of the invitation routes."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers

from authservice.core.api.serializers import Email
from authservice.core.invitations.models import Status
from authservice.invitation.lists import OWN_SORT_FIELDS, SORT_FIELDS
from authservice.invitation.models import METADATA_LENGTH, PURPOSE_LENGTH
from authservice.kernel.http.fields import Choice, JsonText, Text
from authservice.kernel.http.listing import MOST

DEFAULT_PURPOSE = "platform"


class InvitationIn(serializers.Serializer[Any]):
    example: ClassVar = {"email": "bob@example.com"}

    email = Email()
    purpose = Text(
        max_length=PURPOSE_LENGTH, required=False, allow_blank=True, default=DEFAULT_PURPOSE
    )
    metadata = JsonText(max_length=METADATA_LENGTH, required=False, allow_blank=True, default="")


class OwnInvitationsQuery(serializers.Serializer[Any]):
    """Filters of the list of a recipient."""

    purpose = Text(max_length=PURPOSE_LENGTH, required=False)
    query = Text(max_length=254, required=False)


class InvitationsQuery(OwnInvitationsQuery):
    """Filters of the list of a sender."""

    status = Choice(Status.values, required=False)


class InvitationsPage(InvitationsQuery):
    """The filters with the parameters of all lists, declared for the API description;
    `listing.page` reads the latter."""

    offset = serializers.IntegerField(required=False, min_value=0, max_value=MOST, default=0)
    limit = serializers.IntegerField(required=False, min_value=1, max_value=MOST, default=20)
    sort_field = Choice(SORT_FIELDS, required=False, default=SORT_FIELDS[0])
    sort_dir = Choice(("asc", "desc"), required=False, default="desc")


class OwnInvitationsPage(OwnInvitationsQuery):
    """The same for the list of a recipient, which is complete without `limit`."""

    offset = serializers.IntegerField(required=False, min_value=0, max_value=MOST, default=0)
    limit = serializers.IntegerField(required=False, min_value=1, max_value=MOST)
    sort_field = Choice(OWN_SORT_FIELDS, required=False, default=OWN_SORT_FIELDS[0])
    sort_dir = Choice(("asc", "desc"), required=False, default="desc")
