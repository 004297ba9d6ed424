"""Django admin: accounts, sessions, one-time tokens and counters of attempts.

Only the autodiscovery of Django admin imports this module, so a project without it never loads it.
Rows that must not be edited by hand are read-only. No key, digest, seed or fingerprint is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from authservice.core.credentials import lockout
from authservice.core.models import Account, AttemptCounter, OneTimeToken, Session
from authservice.core.sessions import revocation, sessions
from authservice.core.staff import account_form, admin_deletion, admin_password
from authservice.core.staff.account_form import AccountForm, AccountFormSet
from authservice.core.staff.admin_filters import EmailVerified, OneTimeTokenState, SessionState
from authservice.core.staff.admin_pages import (
    DeclaredLookups,
    GoesWithUser,
    ReadOnly,
    RowGuard,
    may_change,
    permitted,
    person_of,
)
from authservice.core.staff.update_user import apply_change
from authservice.core.users.person import Person
from authservice.core.users.user_model import host
from authservice.kernel import message_queue
from authservice.kernel.http.client import of_page
from authservice.kernel.modules import plug

if TYPE_CHECKING:
    AnyPage = admin.options.BaseModelAdmin[Any]
    AccountPage = admin.ModelAdmin[Account]
    SessionPage = admin.ModelAdmin[Session]
    OneTimeTokenPage = admin.ModelAdmin[OneTimeToken]
    AttemptPage = admin.ModelAdmin[AttemptCounter]
    Inline = admin.StackedInline[Account, Any]
else:
    AnyPage = object
    AccountPage = SessionPage = OneTimeTokenPage = AttemptPage = admin.ModelAdmin
    Inline = admin.StackedInline

# Search our own copies, since the fields of the host's user model are unknown here.
_USER_SEARCH = ("user__authservice_account__email", "user__authservice_account__username")
_FACTS = ("email", "email_verified", "username", "phone_verified", "created_at", "updated_at")


class ShowsAccount(AnyPage):
    """The editable fields of an account, and read-only information about it."""

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return (*_FACTS, *account_form.editable())

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        # Staff who could make other users super admins could make themselves super admins too.
        superuser = getattr(request.user, "is_superuser", False)
        return _FACTS if superuser else (*_FACTS, "is_super_admin")

    @admin.display(boolean=True, description="e-mail verified")
    def email_verified(self, account: Account) -> bool:
        return Person(account.user, account).email_verified

    @admin.display(boolean=True, description="phone verified")
    def phone_verified(self, account: Account) -> bool:
        return Person(account.user, account).phone_number_verified


class AccountInline(RowGuard, ShowsAccount, Inline):
    """The account on the page of its user: `inlines = [AccountInline]` in a `UserAdmin`."""

    model = Account
    form = AccountForm
    formset = AccountFormSet
    can_delete = False
    extra = 0

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # it is created with the user

    def get_formset(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        formset: Any = super().get_formset(request, obj, **kwargs)
        # Django creates a new class for each request, so setting attributes on it is safe.
        formset.editor, formset.client = request.user, of_page(request)
        return formset


@admin.register(Account)
class AccountAdmin(DeclaredLookups, ShowsAccount, GoesWithUser, RowGuard, AccountPage):
    form = AccountForm
    list_display = (
        "who",
        "username",
        "name",
        "phone_number",
        "email_verified",
        "is_active",
        "is_super_admin",
        "created_at",
    )
    list_select_related = ("user",)
    search_fields = ("email", "username", "name", "phone_number")
    ordering = ("-created_at",)
    show_full_result_count = False
    actions = ("end_sessions", "resend_verification", "unlock")

    def get_list_filter(self, request: HttpRequest) -> tuple[Any, ...]:
        active = f"user__{host().active}" if host().active else "active"
        return (active, "is_super_admin", EmailVerified, "created_at")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("user", *super().get_fields(request, obj))

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("user", *super().get_readonly_fields(request, obj))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        # The user would remain, but without a verified address, a number or rights.
        if self.at_home(request) or not super().has_delete_permission(request, obj):
            return False
        if obj is None:
            return True
        client = of_page(request)
        return may_change(request, obj) and admin_deletion.may_be_deleted(obj.pk, request, client)

    def save_model(self, request: HttpRequest, obj: Account, form: Any, change: bool) -> None:
        if form.changed_data:
            apply_change(obj, form.before(), by=request.user, client=of_page(request))

    @admin.display(description="account", ordering="email")
    def who(self, account: Account) -> str:
        return str(account)

    @admin.display(boolean=True, description="active")
    def is_active(self, account: Account) -> bool:
        return Person(account.user, account).active

    @admin.action(permissions=["change"], description="End all sessions")
    def end_sessions(self, request: HttpRequest, chosen: QuerySet[Account]) -> None:
        people = self._people(request, chosen)
        users, client = [person.user for person in people], of_page(request)
        ended = revocation.revoke_users(users, by=request.user, client=client)
        _log(request, _accounts(people), "Ended all sessions.")
        self.message_user(request, f"Ended {ended} sessions of {len(people)} accounts.")

    @admin.action(permissions=["change"], description="Resend the verification e-mail")
    def resend_verification(self, request: HttpRequest, chosen: QuerySet[Account]) -> None:
        if plug("messenger") is None:
            text = "Nothing was sent: no installed module sends e-mail."
            self.message_user(request, text, messages.ERROR)
            return
        chosen_people = self._people(request, chosen)
        people = [p for p in chosen_people if p.active and p.email and not p.email_verified]
        client = of_page(request)
        for person in people:
            message_queue.send(message_queue.VERIFY_EMAIL, person.email, client)
        _log(request, _accounts(people), "Resent the verification e-mail.")
        self.message_user(request, f"Sent to {len(people)} accounts that were not verified.")

    @admin.action(permissions=["change"], description="Unlock: reset failed attempts")
    def unlock(self, request: HttpRequest, chosen: QuerySet[Account]) -> None:
        people = self._people(request, chosen)
        lockout.unlock(people)
        _log(request, _accounts(people), "Unlocked.")
        self.message_user(request, f"Unlocked {len(people)} accounts.")

    def _people(self, request: HttpRequest, chosen: QuerySet[Account]) -> list[Person]:
        rows = permitted(self, request, chosen.select_related("user"), _person)
        return [_person(account) for account in rows]


@admin.register(Session)
class SessionAdmin(GoesWithUser, RowGuard, ReadOnly, SessionPage):
    fields = (
        "user",
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
    list_display = ("created_at", "user", "amr", "ip_address", "last_used_at", "state")
    list_select_related = ("user__authservice_account",)
    list_filter = (SessionState, "created_at")
    search_fields = (*_USER_SEARCH, "ip_address")
    ordering = ("-pk",)
    show_full_result_count = False
    actions = ("end",)

    @admin.display(description="state")
    def state(self, session: Session) -> str:
        if session.ended_at:
            return "ended"
        if min(session.idle_expires_at, session.expires_at) <= timezone.now():
            return "expired"
        valid = sessions.is_valid(person_of(session.user), session)
        return "open" if valid else "void: the user or the password has changed"

    def has_end_permission(self, request: HttpRequest) -> bool:
        # The rows cannot be edited, but staff with the permission to change them may end sessions.
        return super(ReadOnly, self).has_change_permission(request)

    @admin.action(permissions=["end"], description="End the selected sessions")
    def end(self, request: HttpRequest, chosen: QuerySet[Session]) -> None:
        ended = self._ended(request, chosen)
        _log(request, ended, "Ended.")
        self.message_user(request, f"Ended {len(ended)} sessions.")

    def delete_model(self, request: HttpRequest, obj: Session) -> None:
        self._ended(request, Session.objects.filter(pk=obj.pk))
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Session]) -> None:
        # By key: the list may be filtered by open sessions, and would be empty after they end.
        chosen = Session.objects.filter(pk__in=list(queryset.values_list("pk", flat=True)))
        self._ended(request, chosen)
        super().delete_queryset(request, chosen)

    def _ended(self, request: HttpRequest, chosen: QuerySet[Session]) -> list[Session]:
        """End the selected sessions and record each; returns those that were still open. Deleting a
        session ends it too."""
        by, client = request.user, of_page(request)
        found = chosen.select_related("user__authservice_account")
        rows = permitted(self, request, found, lambda row: person_of(row.user))
        return [one for one in rows if revocation.revoke_one(one, by=by, client=client)]


@admin.register(OneTimeToken)
class OneTimeTokenAdmin(GoesWithUser, RowGuard, ReadOnly, OneTimeTokenPage):
    """One-time tokens. The page shows neither their digests nor the data stored with them."""

    fields = ("purpose", "user", "attempts", "created_at", "expires_at", "spent_at")
    list_display = ("created_at", "purpose", "user", "attempts", "expires_at", "spent_at")
    list_select_related = ("user",)
    list_filter = (OneTimeTokenState, "purpose")
    search_fields = _USER_SEARCH
    ordering = ("-pk",)
    show_full_result_count = False


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


def _person(account: Account) -> Person:
    return Person(account.user, account)


def _accounts(people: list[Person]) -> list[Account]:
    return [person.account for person in people]


def _log(request: HttpRequest, rows: Any, text: str) -> None:
    """Add the action to the history of each row in Django admin."""
    editor: Any = request.user.pk
    LogEntry.objects.log_actions(editor, rows, CHANGE, text)


admin_deletion.connect()
admin_password.connect()
