"""Django admin: the rows that only the service writes. Staff end sessions, delete one-time tokens
and send lost messages again; they edit none of them, and only see the counters of attempts.

No page shows the digest of a one-time token, or the whole job of a lost message. A job has no link
or code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse

from authservice.core.messages import lost_messages
from authservice.core.models import AttemptCounter, LostMessage, OneTimeToken, Session
from authservice.core.sessions import revocation
from authservice.core.staff import admin_lists, support_actions
from authservice.core.staff.admin_lists import (
    USER_SEARCH,
    Choice,
    OneTimeTokenState,
    SessionState,
)
from authservice.core.staff.admin_pages import (
    GoesWithUser,
    LinksToPerson,
    ReadOnly,
    RowGuard,
    log,
    may_change,
    permitted,
    person_of,
)
from authservice.kernel import clock, databases, events
from authservice.kernel.http.incoming import of_page
from authservice.kernel.languages import admin_count
from authservice.kernel.languages import admin_text as _

if TYPE_CHECKING:
    SessionPage = admin.ModelAdmin[Session]
    OneTimeTokenPage = admin.ModelAdmin[OneTimeToken]
    AttemptPage = admin.ModelAdmin[AttemptCounter]
    LostMessagePage = admin.ModelAdmin[LostMessage]
else:
    SessionPage = OneTimeTokenPage = AttemptPage = LostMessagePage = admin.ModelAdmin

_REVOKED = "security.one_time_token.revoked"


# The base classes (`admin_pages`): the column `person`; rows may be deleted with their user; only
# superusers touch rows of super admins; no row can be edited.
@admin.register(Session)
class SessionAdmin(LinksToPerson, GoesWithUser, RowGuard, ReadOnly, SessionPage):
    fields = (
        "person",
        "state",
        "amr",
        "ip_address",
        "user_agent",
        "created_at",
        "refreshed_at",
        "last_used_at",
        "idle_expires_at",
        "expires_at",
        "ended_at",
        "end_reason",
    )
    list_display = ("created_at", "person", "amr", "ip_address", "last_used_at", "state")
    list_select_related = ("user__authservice_account",)
    list_filter = (SessionState, "created_at")
    exact_lookups = ("user__exact",)
    search_fields = (*USER_SEARCH, "ip_address")
    ordering = ("-pk",)
    show_full_result_count = False
    actions = ("end",)

    @admin.display(description=_("state"))
    def state(self, session: Session) -> str:
        return support_actions.session_state(session, person_of(session.user))

    def has_end_permission(self, request: HttpRequest) -> bool:
        # The rows cannot be edited, but staff with the permission to change them may end sessions.
        # `super(ReadOnly, self)` skips `ReadOnly`, which refuses every change.
        return super(ReadOnly, self).has_change_permission(request)

    @admin.action(permissions=["end"], description=_("End the selected sessions"))
    def end(self, request: HttpRequest, chosen: QuerySet[Session]) -> HttpResponse | None:
        question = _("These sessions end. Their tokens are refused from then on.")
        if page := admin_lists.ask_to_confirm(self, request, chosen, question):
            return page
        ended = self._ended(request, chosen)
        log(request, ended, _("Ended."))
        text = admin_count("Ended %(count)d session.", "Ended %(count)d sessions.", len(ended))
        self.message_user(request, text)
        return None

    def delete_model(self, request: HttpRequest, obj: Session) -> None:
        self._ended(request, Session.objects.filter(pk=obj.pk))
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Session]) -> None:
        # By key: `queryset` may be filtered by open sessions, and would be empty after they end.
        sessions = Session.objects.filter(pk__in=list(queryset.values_list("pk", flat=True)))
        self._ended(request, sessions)
        super().delete_queryset(request, sessions)

    def _ended(self, request: HttpRequest, chosen: QuerySet[Session]) -> list[Session]:
        """End the selected sessions and record each; returns those that were still open. Deleting a
        session ends it too."""
        by, client = request.user, of_page(request)
        rows = chosen.select_related("user__authservice_account")
        sessions = permitted(self, request, rows, lambda row: person_of(row.user))
        return [
            session for session in sessions if revocation.revoke_one(session, by=by, client=client)
        ]


@admin.register(OneTimeToken)
class OneTimeTokenAdmin(LinksToPerson, GoesWithUser, RowGuard, ReadOnly, OneTimeTokenPage):
    """One-time tokens. The page shows neither their digests nor the data stored with them."""

    fields = ("purpose", "person", "attempts", "created_at", "expires_at", "spent_at")
    list_display = ("created_at", "purpose", "person", "attempts", "expires_at", "spent_at")
    list_select_related = ("user__authservice_account",)
    list_filter = (OneTimeTokenState, "purpose")
    search_fields = USER_SEARCH
    ordering = ("-pk",)
    show_full_result_count = False

    def delete_model(self, request: HttpRequest, obj: OneTimeToken) -> None:
        self.delete_queryset(request, OneTimeToken.objects.filter(pk=obj.pk))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[OneTimeToken]) -> None:
        """Record each token that could still be used: deleting it revokes it."""
        tokens = OneTimeToken.objects.filter(pk__in=list(queryset.values_list("pk", flat=True)))
        usable = tokens.filter(spent_at=None, expires_at__gt=clock.now()).order_by("pk")
        by: Any = request.user
        client = of_page(request)
        with transaction.atomic(using=databases.primary()):
            # Locked: a token that is used at this moment must not be recorded as revoked.
            for token in usable.select_for_update():
                details = {"purpose": token.purpose, "one_time_token": str(token.pk)}
                events.record_by_staff(_REVOKED, by, token.user, client, **details)
            super().delete_queryset(request, tokens)


@admin.register(AttemptCounter)
class AttemptAdmin(ReadOnly, AttemptPage):
    """The counters of attempts. The subject of a counter is stored as a digest only, which is also
    its primary key."""

    list_display = ("ends_at", "count", "strikes")
    list_display_links = None
    ordering = ("-ends_at",)
    show_full_result_count = False
    actions = None

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return obj is None and super().has_view_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class SentAgain(Choice):
    title, parameter_name = _("sent again"), "sent_again"

    def conditions(self) -> dict[str, Q]:
        return {"yes": ~Q(sent_again_at=None), "no": Q(sent_again_at=None)}


@admin.register(LostMessage)
class LostMessageAdmin(LinksToPerson, GoesWithUser, RowGuard, ReadOnly, LostMessagePage):
    fields = (
        "kind",
        "recipient",
        "person",
        "reason",
        "lost_at",
        "sent_again_at",
        "language",
        "request_id",
    )
    list_display = ("lost_at", "kind", "recipient", "person", "reason", "sent_again_at")
    list_select_related = ("user__authservice_account",)
    list_filter = (SentAgain, "kind", "lost_at")
    search_fields = ("recipient",)
    ordering = ("-lost_at", "-pk")
    show_full_result_count = False
    actions = ("send_again",)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return (*super().get_readonly_fields(request, obj), "language", "request_id")

    @admin.display(description=_("language"))
    def language(self, row: LostMessage) -> str:
        return str(row.job.get("language") or "-")

    @admin.display(description=_("request"))
    def request_id(self, row: LostMessage) -> str:
        return str(row.job.get("request_id") or "-")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        # Only together with their user (then this is not the own page): no entry of the log would
        # say who deleted a single message. The cleanup deletes old ones.
        return not self.is_own_page(request) and super().has_delete_permission(request, obj)

    def has_act_permission(self, request: HttpRequest) -> bool:
        # The page is read-only; staff with the permission to change messages may send them again.
        # As in `SessionAdmin`, this skips `ReadOnly`.
        return super(ReadOnly, self).has_change_permission(request)

    @admin.action(permissions=["act"], description=_("Send again"))
    def send_again(self, request: HttpRequest, chosen: QuerySet[LostMessage]) -> None:
        rows = list(chosen.select_related("user__authservice_account"))
        allowed = [row for row in rows if may_change(request, row)]
        sent = [row for row in allowed if lost_messages.send_again(row)]
        log(request, sent, _("Sent again."))
        text = admin_count(
            "%(count)d message is sent again, with a new link or code.",
            "%(count)d messages are sent again, with new links or codes.",
            len(sent),
        )
        self.message_user(request, text)
        if skipped := len(rows) - len(sent):
            text = admin_count(
                "Skipped %(count)d message: it was sent again before, or belongs to a super admin.",
                "Skipped %(count)d messages: they were sent again before, or belong to super"
                " admins.",
                skipped,
            )
            self.message_user(request, text, messages.WARNING)
