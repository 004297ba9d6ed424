"""Common base classes for the Django admin pages of core and of the modules."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.admin.utils import quote
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html

from authservice.core.errors import Conflict
from authservice.core.models import Account
from authservice.core.staff import authority
from authservice.core.staff.account_form import with_unique_identifiers
from authservice.core.staff.admin_lists import DeclaredLookups
from authservice.core.users import host_fields
from authservice.core.users.person import Person
from authservice.core.users.user_model import host
from authservice.kernel import databases
from authservice.kernel.errors import Fault, ValidationFailed
from authservice.kernel.http import fields
from authservice.kernel.http.incoming import of_page
from authservice.kernel.languages import admin_text as _

if TYPE_CHECKING:
    Page = admin.ModelAdmin[Any]
    AnyPage = admin.options.BaseModelAdmin[Any]
    Form = forms.ModelForm[Any]
else:
    Page = AnyPage = object
    Form = forms.ModelForm

Row = TypeVar("Row")


class ReadOnly(DeclaredLookups, AnyPage):
    """Rows that only the service may change: editing them by hand would break its guarantees."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ApiRules(Form):
    """A form whose texts follow the rules of the API, and are stored as the API stores them.

    An unchanged text is not checked, so that staff can save a row with an older value.
    """

    # A class whose instances have the `fields`, such as a serializer. None of them is required.
    schema: ClassVar[Any]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        checked = fields.names(self.schema).intersection(self.changed_data, cleaned)
        try:
            cleaned |= fields.read(self.schema, {name: cleaned[name] for name in checked})
        except ValidationFailed as error:
            for name, texts in error.texts.items():
                self.add_error(name, texts)
        return cleaned


class LineFeeds(forms.CharField):
    """Browsers send each line break as CR LF; the API refuses CR."""

    def to_python(self, value: Any) -> str:
        return (super().to_python(value) or "").replace("\r\n", "\n")


class LinksToPerson(AnyPage):
    """The column `person`: the user of a row, with a link to the support page."""

    @admin.display(description=_("user"), ordering="user")
    def person(self, row: Any) -> str:
        if row.user is None:
            return "-"
        return person_link(self.admin_site, person_of(row.user).account)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return (*super().get_readonly_fields(request, obj), "person")


def person_link(site: Any, account: Account) -> str:
    """A link to the support page of an account; only its name if the site has none."""
    try:
        name = "admin:authservice_core_account_support"
        url = reverse(name, args=[quote(account.pk)], current_app=site.name)
    except NoReverseMatch:
        return str(account)
    return format_html('<a href="{}">{}</a>', url, account)


class GoesWithUser(AnyPage):
    """Rows that are deleted with their user without a permission of their own."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        if obj is not None and not self.is_own_page(request):
            return True
        return super().has_delete_permission(request, obj)

    def is_own_page(self, request: HttpRequest) -> bool:
        """Whether this is the page of these rows, not the page of the user who is being deleted."""
        name = (request.resolver_match and request.resolver_match.url_name) or ""
        return name.startswith(f"{self.opts.app_label}_{self.opts.model_name}_")


class ActionsOnly(GoesWithUser, ReadOnly, Page):
    """Rows that are changed by actions only, which need `permissions=["act"]`: staff who may change
    the rows may run them."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        # Deleting the row would skip what its action does, such as the audit entry.
        return not self.is_own_page(request) and super().has_delete_permission(request, obj)

    def has_act_permission(self, request: HttpRequest) -> bool:
        # Skips `ReadOnly`, which refuses the change itself.
        return super(ReadOnly, self).has_change_permission(request)

    def run(
        self, request: HttpRequest, rows: Iterable[Any], action: Callable[..., None], done: str
    ) -> None:
        """Run the action on each row; a row that it refuses is skipped, and the page says why."""
        changed, skipped = [], []
        for row in rows:
            try:
                action(row, by=request.user, client=of_page(request))
                changed.append(row)
            except Fault as fault:
                skipped.append(f"{row}: {fault.text}")
        editor: Any = request.user.pk
        LogEntry.objects.log_actions(editor, changed, CHANGE, f"{done}.")
        self.message_user(request, f"{done}: {len(changed)}.")
        for text in skipped:
            self.message_user(request, text, messages.WARNING)


class RowGuard(AnyPage):
    """Only a superuser may change or delete rows of a superuser or a super admin."""

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_change_permission(request, obj) and may_change(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_delete_permission(request, obj) and may_change(request, obj)


class SuperAdminGuard(RowGuard, Page):
    """Only a superuser may change superusers and super admins, and the rights of users. Public:

        class PeopleAdmin(SuperAdminGuard, UserAdmin): ...

    Changing an address, a number or a password gives access to the account, so otherwise the
    permission to change users would be worth all permissions. A change of `is_superuser`,
    `is_staff`, groups or permissions is always recorded, also for superusers. No user gets the
    address or username of another one. A row that the project refuses is a message, not a crash.
    """

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> Any:
        return self._guarded(super().get_form(request, obj, change=change, **kwargs))

    def get_changelist_form(self, request: HttpRequest, **kwargs: Any) -> Any:
        return self._guarded(super().get_changelist_form(request, **kwargs))

    def _guarded(self, form: Any) -> Any:
        is_user_form = issubclass(self.model, host().model)
        return with_unique_identifiers(form) if is_user_form else form

    def changeform_view(self, request: HttpRequest, *args: Any, **options: Any) -> Any:
        view = super().changeform_view
        return self._shown_refusals(request, lambda: view(request, *args, **options))

    def changelist_view(self, request: HttpRequest, *args: Any, **options: Any) -> Any:
        view = super().changelist_view
        return self._shown_refusals(request, lambda: view(request, *args, **options))

    def user_change_password(self, request: HttpRequest, *args: Any, **options: Any) -> Any:
        view = super().user_change_password  # type: ignore[misc]

        def in_a_transaction() -> Any:  # Django's view opens none, unlike the two above
            with transaction.atomic(using=databases.primary()):
                return view(request, *args, **options)

        return self._shown_refusals(request, in_a_transaction)

    def _shown_refusals(self, request: HttpRequest, view: Callable[[], Any]) -> Any:
        """The page again with a message if the project's model or table refuses the row. A form
        cannot know: the refusal comes from `save()`, a receiver or the database."""
        if request.method != "POST":
            return view()  # it saves nothing, and a redirect to the same page would fail again
        names = {field.name: field.name for field in self.model._meta.get_fields()}
        try:
            with host_fields.saving(**names):
                return view()
        except (Conflict, ValidationFailed) as refusal:
            self.message_user(request, str(refusal.text), messages.ERROR, fail_silently=True)
            return HttpResponseRedirect(request.get_full_path())

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        read_only = tuple(super().get_readonly_fields(request, obj))
        rights_fields = (
            () if authority.is_superuser(request.user) else authority.rights_fields(self.model)
        )
        return (*read_only, *(name for name in rights_fields if name not in read_only))

    def save_form(self, request: HttpRequest, form: Any, change: bool) -> Any:
        if authority.rights_fields(self.model):
            stored = authority.find_with_rights(form.instance.pk) if change else self.model()
            # Django checks the permission to change this row only on the page of the row, not in a
            # list with `list_editable`.
            if change and not may_change(request, stored):
                raise PermissionDenied(_("Only a superuser may change a super admin."))
            form.rights_before = authority.rights_of(stored)
        return super().save_form(request, form, change)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Check and record the stored rights: forms, lists and inlines of the project may have
        changed them although the page does not allow it."""
        super().save_related(request, form, formsets, change)
        if not authority.rights_fields(self.model):
            return
        user = authority.find_with_rights(form.instance.pk)
        changed = authority.changed_rights(form.rights_before, authority.rights_of(user))
        if changed and not authority.is_superuser(request.user):
            raise PermissionDenied(_("Only a superuser may change the rights of a user."))
        if changed:
            authority.record_rights(changed, user, by=request.user, client=of_page(request))


def may_change(request: HttpRequest, row: Any) -> bool:
    """Whether the member of staff may change a row: a user, or a row of a user."""
    owner = row if row is None or isinstance(row, host().model) else row.user
    return owner is None or authority.may_change(request.user, person_of(owner))


def person_of(user: Any) -> Person:
    """The user with their account, which may not exist yet; nothing is stored."""
    return Person(user, getattr(user, "authservice_account", None) or Account(user=user))


def log(request: HttpRequest, rows: Any, text: str) -> None:
    """Add the action to the history of each row in Django admin."""
    editor: Any = request.user.pk
    LogEntry.objects.log_actions(editor, rows, CHANGE, str(text))


def permitted(
    page: Any, request: HttpRequest, rows: Iterable[Row], owner: Callable[[Row], Person]
) -> list[Row]:
    """The selected rows that the member of staff may change; the page says how many were
    skipped."""
    selected = list(rows)
    changeable = [row for row in selected if authority.may_change(request.user, owner(row))]
    if len(changeable) < len(selected):
        text = _("Skipped %(count)d: only a superuser may do this to super admins.")
        text = text % {"count": len(selected) - len(changeable)}
        page.message_user(request, text, messages.WARNING)
    return changeable
