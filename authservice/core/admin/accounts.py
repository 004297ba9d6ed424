"""Django admin: accounts, on pages of their own and on the page of their user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html

from authservice.core import errors
from authservice.core.admin.support_pages import SupportPages
from authservice.core.messages import kinds
from authservice.core.models import Account
from authservice.core.sessions import revocation
from authservice.core.staff import (
    account_form,
    admin_lists,
    authority,
    django_user_pages,
    login_obstacles,
)
from authservice.core.staff.account_form import AccountForm, AccountFormSet
from authservice.core.staff.admin_lists import Active, DeclaredLookups, EmailVerified, SuperAdmin
from authservice.core.staff.admin_pages import (
    ApiRules,
    GoesWithUser,
    RowGuard,
    log,
    may_change,
    permitted,
)
from authservice.core.staff.update_user import apply_change
from authservice.core.users.person import Person
from authservice.core.users.user_model import host
from authservice.kernel import databases, message_queue
from authservice.kernel.http.fields import Text
from authservice.kernel.http.incoming import of_page
from authservice.kernel.languages import admin_count
from authservice.kernel.languages import admin_text as _

if TYPE_CHECKING:
    AnyPage = admin.options.BaseModelAdmin[Any]
    AccountPage = admin.ModelAdmin[Account]
    Inline = admin.StackedInline[Account, Any]
else:
    AnyPage = object
    AccountPage = admin.ModelAdmin
    Inline = admin.StackedInline

_FACTS = ("email", "email_verified", "username", "phone_verified", "created_at", "updated_at")


class AccountTexts:
    """The rules of the API for the texts of an account, in the form of its serializers.
    `AccountForm` has the rules of a phone number, and one more rule of an avatar."""

    def __init__(self) -> None:
        longest = {"name": 255, "first_name": 150, "last_name": 150, "avatar": 2048}
        self.fields = {
            name: Text(max_length=length, required=False, allow_blank=True)
            for name, length in longest.items()
        }


class AccountPageForm(ApiRules, AccountForm):
    schema = AccountTexts


class ShowsAccount(AnyPage):
    """The editable fields of an account, and read-only information about it."""

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return (*_FACTS, *account_form.editable())

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        # Staff who could make other users super admins could make themselves super admins too.
        superuser = authority.is_superuser(request.user)
        return _FACTS if superuser else (*_FACTS, "is_super_admin")

    @admin.display(boolean=True, description=_("e-mail verified"))
    def email_verified(self, account: Account) -> bool:
        return Person(account.user, account).email_verified

    @admin.display(boolean=True, description=_("phone verified"))
    def phone_verified(self, account: Account) -> bool:
        return Person(account.user, account).phone_number_verified


class AccountInline(RowGuard, ShowsAccount, Inline):
    """The account on the page of its user: `inlines = [AccountInline]` in a `UserAdmin`."""

    model = Account
    form = AccountPageForm
    formset = AccountFormSet
    can_delete = False
    extra = 0

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # an account is created together with its user

    def get_formset(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        formset: Any = super().get_formset(request, obj, **kwargs)
        # Django creates a new class for each request, so setting attributes on it is safe.
        formset.editor, formset.client = request.user, of_page(request)
        return formset


@admin.register(Account)
class AccountAdmin(
    SupportPages, DeclaredLookups, ShowsAccount, GoesWithUser, RowGuard, AccountPage
):
    form = AccountPageForm
    list_display = (
        "account_label",
        "username",
        "name",
        "phone_number",
        "email_verified",
        "is_active",
        "super_admin",
        "created_at",
        "support",
    )
    list_select_related = ("user",)
    search_fields = ("email", "username", "name", "phone_number")
    ordering = ("-created_at",)
    show_full_result_count = False
    actions = ("end_sessions", "resend_verification", "unlock")

    def get_list_filter(self, request: HttpRequest) -> tuple[Any, ...]:
        active = f"user__{host().active}" if host().active else Active
        return (active, SuperAdmin, EmailVerified, "created_at")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("user", *super().get_fields(request, obj))

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("user", *super().get_readonly_fields(request, obj))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        # An account is deleted only together with its user, who would otherwise remain without a
        # verified address, a number or rights.
        if self.is_own_page(request) or not super().has_delete_permission(request, obj):
            return False
        if obj is None:
            return True
        if not may_change(request, obj):
            return False
        if django_user_pages.may_be_deleted(obj.pk, request, of_page(request)):
            return True
        # Django's page says that a permission is missing. Show the actual reason too, once.
        text = str(errors.LastSuperAdmin.message)
        explained = request.__dict__.setdefault("_authservice_explained", set())
        if text not in explained:
            explained.add(text)
            self.message_user(request, text, messages.ERROR, fail_silently=True)
        return False

    def save_model(self, request: HttpRequest, obj: Account, form: Any, change: bool) -> None:
        if form.changed_data:
            apply_change(obj, form.before(), by=request.user, client=of_page(request))

    @admin.display(description=_("account"), ordering="email")
    def account_label(self, account: Account) -> str:
        return str(account)

    @admin.display(description=_("support"))
    def support(self, account: Account) -> str:
        return format_html('<a href="{}">{}</a>', self.support_url(account), _("Support page"))

    @admin.display(boolean=True, description=_("active"))
    def is_active(self, account: Account) -> bool:
        return Person(account.user, account).active

    @admin.display(boolean=True, description=_("super admin"), ordering="is_super_admin")
    def super_admin(self, account: Account) -> bool:
        return Person(account.user, account).is_super_admin

    @admin.action(permissions=["change"], description=_("End all sessions"))
    def end_sessions(self, request: HttpRequest, chosen: QuerySet[Account]) -> HttpResponse | None:
        question = _("All sessions of these users end. Every token is refused from then on.")
        if page := admin_lists.ask_to_confirm(self, request, chosen, question):
            return page
        people = self._people(request, chosen)
        users, client = [person.user for person in people], of_page(request)
        ended = revocation.revoke_users(users, by=request.user, client=client)
        log(request, _accounts(people), _("Ended all sessions."))
        text = _("Sessions ended: %(sessions)d. Accounts: %(accounts)d.")
        self.message_user(request, text % {"sessions": ended, "accounts": len(people)})
        return None

    @admin.action(permissions=["change"], description=_("Resend the verification e-mail"))
    def resend_verification(self, request: HttpRequest, chosen: QuerySet[Account]) -> None:
        if not message_queue.can_mail():
            text = _("Nothing was sent: no installed module sends e-mail.")
            self.message_user(request, text, messages.ERROR)
            return
        chosen_people = self._people(request, chosen)
        people = [
            person
            for person in chosen_people
            if person.active and person.email and not person.email_verified
        ]
        client, using = of_page(request), databases.primary()
        for person in people:
            message_queue.send(kinds.VERIFY_EMAIL, person.email, client, using=using)
        log(request, _accounts(people), _("Resent the verification e-mail."))
        text = admin_count(
            "Sent to %(count)d account that was not verified.",
            "Sent to %(count)d accounts that were not verified.",
            len(people),
        )
        self.message_user(request, text)

    @admin.action(permissions=["change"], description=_("Unlock: reset failed attempts"))
    def unlock(self, request: HttpRequest, chosen: QuerySet[Account]) -> None:
        people = self._people(request, chosen)
        locked = login_obstacles.unlock(people, by=request.user, client=of_page(request))
        log(request, _accounts(people), _("Unlocked."))
        text = admin_count(
            "Unlocked %(count)d account. All failed attempts at the selected accounts were reset.",
            "Unlocked %(count)d accounts. All failed attempts at the selected accounts were reset.",
            locked,
        )
        self.message_user(request, text)

    def _people(self, request: HttpRequest, chosen: QuerySet[Account]) -> list[Person]:
        rows = permitted(self, request, chosen.select_related("user"), _person)
        return [_person(account) for account in rows]


def _person(account: Account) -> Person:
    return Person(account.user, account)


def _accounts(people: list[Person]) -> list[Account]:
    return [person.account for person in people]
