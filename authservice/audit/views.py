"""Routes of the log: the caller's own entries, and all entries for super admins."""

from __future__ import annotations

import json
from functools import partial
from typing import Annotated, Any, TypedDict

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.serializers import Serializer

from authservice.audit import queries, retention, writer
from authservice.audit.conf import conf
from authservice.audit.models import ACTION, Entry
from authservice.audit.queries import EntryFilter
from authservice.core.api.endpoint import Endpoint
from authservice.core.staff import authority
from authservice.kernel.actions import ADMIN, SEVERITIES
from authservice.kernel.http import fields
from authservice.kernel.http.envelope import answer, utc
from authservice.kernel.http.fields import Choice, Text
from authservice.kernel.http.listing import (
    MAX_NUMBER,
    Listing,
    SortDirection,
    listing,
    page,
    without_empty,
)
from authservice.kernel.http.operations import Is, Moment, Named, operation
from authservice.kernel.languages import joined, phrase, phrase_count

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
            "from": fields.Moment(required=False),
            "to": fields.Moment(required=False),
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


class AuditEntry(TypedDict):
    """An entry of the log; `metadata` is JSON text, and unknown values are empty."""

    id: str
    action: str
    actor_id: str
    actor_type: str
    target_id: str
    target_type: str
    severity: Annotated[str, Is(enum=list(SEVERITIES)), Named("Severity")]
    details: str
    metadata: str
    ip_address: str
    user_agent: str
    created_at: Moment


class Cleaned(TypedDict):
    """The number of deleted entries."""

    message: str
    deleted: int


# Decorates each list: all of them answer with the same kind of page.
_list_entries = partial(
    operation,
    "GET",
    answer=Listing[AuditEntry],
    answered="One page of entries, newest first unless sorted otherwise, and their `total`.",
)


class _Mine(Endpoint):
    """Entries whose actor or target is the caller."""

    def _of(self, category: str) -> HttpResponse:
        caller: str = self.identity.person.id
        paging = page(self.request.GET, SORT_FIELDS)
        rows, total = queries.page_of_user(caller, paging, EntryFilter(category=category))
        return answer(listing([own(row, caller) for row in rows], paging, total))


class MyEntries(_Mine):
    path = "me/audit"
    route = "my-audit"

    @_list_entries(query=Paged, id="listOwnAuditEntries")
    def find(self) -> HttpResponse:
        """List the caller's own audit entries: as actor or as target

        What happened to the account of the signed-in user: the entries whose actor or target the
        user is. If another person was the actor, address and client are empty.

        Lists come page by page: `offset`, `limit` (20, at most 100), `sort_field` and `sort_dir`.
        """
        return self._of("")


class MyLogins(_Mine):
    path = "me/audit/logins"
    route = "my-audit-logins"

    @_list_entries(query=Paged, id="listOwnLogins")
    def find(self) -> HttpResponse:
        """List the caller's logins, including refused ones

        Logins, refused logins, logouts and tokens of the signed-in user, for a page "Recent
        activity".

        Lists come page by page: `offset`, `limit` (20, at most 100), `sort_field` and `sort_dir`.
        """
        return self._of(writer.LOGINS)


class MyChanges(_Mine):
    path = "me/audit/changes"
    route = "my-audit-changes"

    @_list_entries(query=Paged, id="listOwnChanges")
    def find(self) -> HttpResponse:
        """List changes of the caller's profile

        Changes of the account of the signed-in user, such as another name, address or number.

        Lists come page by page: `offset`, `limit` (20, at most 100), `sort_field` and `sort_dir`.
        """
        return self._of(writer.CHANGES)


class MySecurityEvents(_Mine):
    path = "me/audit/security"
    route = "my-audit-security"

    @_list_entries(query=Paged, id="listOwnSecurityEvents")
    def find(self) -> HttpResponse:
        """List the caller's security events

        Second factors, passwords, ended sessions and limits of the signed-in user.

        Lists come page by page: `offset`, `limit` (20, at most 100), `sort_field` and `sort_dir`.
        """
        return self._of(writer.SECURITY)


class Everything(Endpoint):
    path = "admin/audit"
    route = "audit"
    super_admin = True

    @_list_entries(query=EntriesPage, id="listAuditEntries")
    def find(self) -> HttpResponse:
        """List all audit entries

        All entries of the audit log.

        Filters are `action` (an action, a first part such as `auth.password`, or a prefix such as
        `auth.log*`), `severity`, `actor_id`, `target_id`, and `from` and `to` in ISO 8601. Above
        10,000 entries `total` is a lower bound: read on while pages are full.

        Lists come page by page: `offset`, `limit` (20, at most 100), `sort_field` and `sort_dir`.

        Only super admins may. 403 `FORBIDDEN`: the caller is not one. 403
        `REAUTHENTICATION_REQUIRED`: the service requires a second factor of super admins, and this
        session began without one; log in again.
        """
        paging = page(self.request.GET, SORT_FIELDS)
        rows, total = queries.page_of(paging, EntryFilter(**filters(self)))
        return answer(listing([entry(row) for row in rows], paging, total))


class OfUser(Endpoint):
    path = "admin/audit/users/<str:user_id>"
    route = "audit-user"
    super_admin = True

    @_list_entries(query=EntriesPage, id="listUserAuditEntries")
    def find(self, user_id: str) -> HttpResponse:
        """List the audit entries of a user: as actor or as target

        The entries whose actor or target is the user, also after the user was deleted.

        Filters are `action` (an action, a first part such as `auth.password`, or a prefix such as
        `auth.log*`), `severity`, `actor_id`, `target_id`, and `from` and `to` in ISO 8601. Above
        10,000 entries `total` is a lower bound: read on while pages are full.

        Lists come page by page: `offset`, `limit` (20, at most 100), `sort_field` and `sort_dir`.

        Only super admins may. 403 `FORBIDDEN`: the caller is not one. 403
        `REAUTHENTICATION_REQUIRED`: the service requires a second factor of super admins, and this
        session began without one; log in again.
        """
        paging = page(self.request.GET, SORT_FIELDS)
        in_path = fields.read(UserIdIn, {"user_id": user_id})["user_id"]
        rows, total = queries.page_of_user(in_path, paging, EntryFilter(**filters(self)))
        return answer(listing([entry(row) for row in rows], paging, total))


class OfAction(Endpoint):
    path = "admin/audit/actions/<str:action>"
    route = "audit-action"
    super_admin = True

    @_list_entries(query=EntriesOfActionPage, id="listActionAuditEntries")
    def find(self, action: str) -> HttpResponse:
        """List the audit entries of an action

        The entries of an action, which the path names as the filter `action` does.

        Filters are `action` (an action, a first part such as `auth.password`, or a prefix such as
        `auth.log*`), `severity`, `actor_id`, `target_id`, and `from` and `to` in ISO 8601. Above
        10,000 entries `total` is a lower bound: read on while pages are full.

        Lists come page by page: `offset`, `limit` (20, at most 100), `sort_field` and `sort_dir`.

        Only super admins may. 403 `FORBIDDEN`: the caller is not one. 403
        `REAUTHENTICATION_REQUIRED`: the service requires a second factor of super admins, and this
        session began without one; log in again.
        """
        paging = page(self.request.GET, SORT_FIELDS)
        in_path = fields.read(ActionIn, {"action": action})
        rows, total = queries.page_of(
            paging, EntryFilter(**filters(self, EntriesOfActionQuery), **in_path)
        )
        return answer(listing([entry(row) for row in rows], paging, total))


class Cleanup(Endpoint):
    path = "admin/audit/cleanup"
    route = "audit-cleanup"
    super_admin = True

    @operation(
        "POST",
        answer=Cleaned,
        id="cleanUpAuditEntries",
        answered="A `message`, and the number of deleted entries in `deleted`.",
    )
    def clean(self) -> HttpResponse:
        """Delete expired audit entries

        Deletes the entries whose retention has ended, at most as many as the service allows for
        each request. If `deleted` is that number, send the request again. A daily command does the
        same.

        Only super admins may. 403 `FORBIDDEN`: the caller is not one. 403
        `REAUTHENTICATION_REQUIRED`: the service requires a second factor of super admins, and this
        session began without one; log in again.
        """
        caller, limit = self.identity, conf.cleanup_limit
        deleted = retention.clean(
            by=caller.person.user,
            client=self.client,
            actor_type=ADMIN,
            at_most=limit,
            permitted=authority.acting(caller.person, caller.session),
        )
        texts = [phrase_count("Deleted %(count)d entry.", "Deleted %(count)d entries.", deleted)]
        if deleted == limit:
            texts.append(phrase("There may be more: repeat the request."))
        cleaned: Cleaned = {"message": joined(texts), "deleted": deleted}
        return answer(cleaned)


def filters(view: Endpoint, schema: type[Serializer[Any]] = EntriesQuery) -> dict[str, Any]:
    """The filters in the query string of a super admin, by the names in `EntryFilter`, which
    has `since` and `until` for `from` and `to`. Raises `ValidationFailed`."""
    query = fields.read(schema, without_empty(view.request.GET))
    return {
        {"from": "since", "to": "until"}.get(name, name): value for name, value in query.items()
    }


def entry(row: Entry) -> AuditEntry:
    return {
        "id": str(row.pk),
        "action": row.action,
        "actor_id": row.actor_id,
        "actor_type": row.actor_type,
        "target_id": row.target_id,
        "target_type": row.target_type,
        "severity": row.severity,
        "details": row.details,
        "metadata": row.metadata,
        "ip_address": row.ip_address,
        "user_agent": row.user_agent,
        "created_at": utc(row.created_at),
    }


def own(row: Entry, caller: str) -> AuditEntry:
    """An entry as the caller may see it: without the address, user agent and request id of another
    actor."""
    complete = entry(row)
    if row.actor_id == caller:
        return complete
    metadata = json.dumps({**json.loads(row.metadata), "request_id": ""}, separators=(",", ":"))
    return {**complete, "metadata": metadata, "ip_address": "", "user_agent": ""}
