"""Query parameters of the lists of entries."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from authservice.audit.models import ACTION
from authservice.kernel.actions import SEVERITIES
from authservice.kernel.http.fields import Choice, Moment, Text
from authservice.kernel.http.listing import MAX_NUMBER, SortDirection

SORT_FIELDS = ("created_at", "action", "severity", "actor_id")


class EntriesOfActionQuery(serializers.Serializer[Any]):
    """Filters of the lists for super admins, without `action`: for lists whose path names it."""

    severity = Choice(SEVERITIES, component="Severity", required=False)
    actor_id = Text(max_length=255, required=False)
    target_id = Text(max_length=255, required=False)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        # `from` is a Python keyword, so it cannot be a class attribute.
        return {
            **super().get_fields(),
            "from": Moment(required=False),
            "to": Moment(required=False),
        }


class EntriesQuery(EntriesOfActionQuery):
    """The same filters, and `action`."""

    action = Text(max_length=ACTION, required=False)


class UserIdIn(serializers.Serializer[Any]):
    """A user id in a path, in whatever form the host project's ids have."""

    user_id = Text(max_length=255)


class ActionIn(serializers.Serializer[Any]):
    """An action in a path, in any form that the filter `action` takes, or an unknown one."""

    action = Text(max_length=255)


class Paged(serializers.Serializer[Any]):
    """Parameters of all lists, declared for the API description only. `listing.page` reads them,
    and counts a `limit` above 100 as 100."""

    offset = serializers.IntegerField(required=False, min_value=0, max_value=MAX_NUMBER, default=0)
    limit = serializers.IntegerField(required=False, min_value=1, max_value=MAX_NUMBER, default=20)
    sort_field = Choice(SORT_FIELDS, required=False, default=SORT_FIELDS[0])
    sort_dir = SortDirection()


class EntriesPage(EntriesQuery, Paged):
    """Filters and paging together."""


class EntriesOfActionPage(EntriesOfActionQuery, Paged):
    """The same for a list whose path names the action."""
