"""Routes of the log: the caller's own entries, and all entries for super admins."""

from __future__ import annotations

import json
from typing import Any, TypedDict

from django.http import HttpResponse

from authservice.audit import categories, queries, retention
from authservice.audit.conf import conf
from authservice.audit.models import Entry
from authservice.audit.queries import EntryFilter
from authservice.audit.serializers import (
    SORT_FIELDS,
    ActionIn,
    EntriesPage,
    EntriesQuery,
    Paged,
    UserIdIn,
)
from authservice.core.api.endpoint import Endpoint
from authservice.core.staff import authority
from authservice.kernel.actions import ADMIN
from authservice.kernel.http import fields
from authservice.kernel.http.envelope import answer, utc
from authservice.kernel.http.listing import Listing, given, listing, page
from authservice.kernel.http.operations import Moment, Uuid, operation
from authservice.kernel.phrases import joined, phrase, phrase_count


class AuditEntry(TypedDict):
    """An entry of the log; `metadata` is JSON text, and unknown values are empty."""

    id: Uuid
    action: str
    actor_id: str
    actor_type: str
    target_id: str
    target_type: str
    severity: str
    details: str
    metadata: str
    ip_address: str
    user_agent: str
    created_at: Moment


class Cleaned(TypedDict):
    """The number of deleted entries."""

    message: str
    deleted: int


class Mine(Endpoint):
    """Entries whose actor or target is the caller."""

    @operation(
        "List the caller's own audit entries: as actor or as target",
        query=Paged,
        answer=Listing[AuditEntry],
        id="getMyAudit",
    )
    def find(self) -> HttpResponse:
        return self._of("")

    @operation(
        "List the caller's logins, including refused ones",
        query=Paged,
        answer=Listing[AuditEntry],
        id="getMyAuditLogins",
    )
    def find_logins(self) -> HttpResponse:
        return self._of(categories.LOGINS)

    @operation(
        "List changes of the caller's profile",
        query=Paged,
        answer=Listing[AuditEntry],
        id="getMyAuditChanges",
    )
    def find_changes(self) -> HttpResponse:
        return self._of(categories.CHANGES)

    @operation(
        "List the caller's security events",
        query=Paged,
        answer=Listing[AuditEntry],
        id="getMyAuditSecurity",
    )
    def find_security(self) -> HttpResponse:
        return self._of(categories.SECURITY)

    def _of(self, category: str) -> HttpResponse:
        caller: str = self.identity.person.id
        wanted = page(self.request.GET, SORT_FIELDS)
        rows, total = queries.page_of_user(caller, wanted, EntryFilter(category=category))
        return answer(listing([own(row, caller) for row in rows], wanted, total))


class Everything(Endpoint):
    super_admin = True

    @operation(
        "List all audit entries", query=EntriesPage, answer=Listing[AuditEntry], id="getAudit"
    )
    def find(self) -> HttpResponse:
        wanted = page(self.request.GET, SORT_FIELDS)
        rows, total = queries.page_of(wanted, EntryFilter(**filters(self)))
        return answer(listing([entry(row) for row in rows], wanted, total))


class OfUser(Endpoint):
    super_admin = True

    @operation(
        "List the audit entries of a user: as actor or as target",
        query=EntriesPage,
        answer=Listing[AuditEntry],
        id="getUserAudit",
    )
    def find(self, user_id: str) -> HttpResponse:
        wanted = page(self.request.GET, SORT_FIELDS)
        named = fields.read(UserIdIn, {"user_id": user_id})["user_id"]
        rows, total = queries.page_of_user(named, wanted, EntryFilter(**filters(self)))
        return answer(listing([entry(row) for row in rows], wanted, total))


class OfAction(Endpoint):
    super_admin = True

    @operation(
        "List the audit entries of an action",
        query=EntriesPage,
        answer=Listing[AuditEntry],
        id="getActionAudit",
    )
    def find(self, action: str) -> HttpResponse:
        wanted = page(self.request.GET, SORT_FIELDS)
        named = fields.read(ActionIn, {"action": action})
        rows, total = queries.page_of(wanted, EntryFilter(**{**filters(self), **named}))
        return answer(listing([entry(row) for row in rows], wanted, total))


class Cleanup(Endpoint):
    super_admin = True

    @operation("Delete expired audit entries", answer=Cleaned, id="cleanUpAudit")
    def clean(self) -> HttpResponse:
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


def filters(view: Endpoint) -> dict[str, Any]:
    """The filters in the query string of a super admin. Raises `ValidationFailed`."""
    wanted = fields.read(EntriesQuery, given(view.request.GET))
    return {
        {"from": "since", "to": "until"}.get(name, name): value for name, value in wanted.items()
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
    """The same for the caller, without the address, user agent and request id of another actor."""
    shown = entry(row)
    if row.actor_id == caller:
        return shown
    metadata = json.dumps({**json.loads(row.metadata), "request_id": ""}, separators=(",", ":"))
    return {**shown, "metadata": metadata, "ip_address": "", "user_agent": ""}
