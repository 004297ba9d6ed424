"""The form by which staff change an account, on its own page or on the page of its user."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.db import transaction

from authservice.core import errors
from authservice.core.models import Account
from authservice.core.staff import authority, create_and_delete, super_admins
from authservice.core.staff.update_user import change_in_admin
from authservice.core.users import identifiers, lookup
from authservice.core.users.identifiers import EMAIL, USERNAME, Identifier
from authservice.core.users.person import Person, email_of, username_of
from authservice.core.users.user_model import host
from authservice.kernel import databases
from authservice.kernel.client import Client
from authservice.kernel.languages import admin_text as _
from authservice.kernel.languages import of_field, translated

if TYPE_CHECKING:
    Form = forms.ModelForm[Account]
    FormSet = forms.BaseInlineFormSet[Account, Any, Form]
else:
    Form, FormSet = forms.ModelForm, forms.BaseInlineFormSet

_FIELDS = ("name", "first_name", "last_name", "phone_number", "avatar", "active", "is_super_admin")
_TAKEN = {
    EMAIL: _("Another account has this e-mail address."),
    USERNAME: _("Another account has this username."),
}


def editable() -> tuple[str, ...]:
    """The fields to edit on the account. Fields that the host's user model has are edited there."""
    return tuple(name for name in _FIELDS if not getattr(host(), name, ""))


class AccountForm(Form):
    """The form of one account. A changed number becomes unverified."""

    class Meta:
        model = Account
        fields: ClassVar = _FIELDS

    def clean(self) -> dict[str, Any]:
        """Keep the last super admin. This check shows a message; `update_user` enforces the
        rule."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        removed = [name for name in ("active", "is_super_admin") if cleaned.get(name) is False]
        if set(removed) & set(self.changed_data):
            _require_another(self.instance.pk)
        return cleaned

    def before(self) -> dict[str, Any]:
        """The changed fields as they were."""
        return {name: self.initial.get(name) for name in self.changed_data}

    def clean_phone_number(self) -> str:
        phone: str = self.cleaned_data["phone_number"]
        if phone and not identifiers.is_phone(phone):
            raise ValidationError(translated(identifiers.PHONE_RULE))
        key = identifiers.phone_key(phone) if phone else None
        other_accounts = Account.objects.exclude(pk=self.instance.pk)
        if key and other_accounts.filter(verified_phone_key=key).exists():
            raise ValidationError(_("Another account has this number."))
        self.instance.phone_key = key
        return phone

    def clean_avatar(self) -> str:
        avatar: str = self.cleaned_data["avatar"]
        if avatar:
            URLValidator(schemes=["http", "https"])(avatar)
        return avatar


def _require_another(pk: Any) -> None:
    """Refuse to take the rights of the last active super admin. Other users are not checked."""
    # Django admin validates and saves in one transaction, so the rows locked here stay locked.
    with transaction.atomic(using=databases.primary()):
        try:
            super_admins.lock_user(pk, losing=True)
        except errors.LastSuperAdmin as error:
            raise ValidationError(error.text) from error


class AccountFormSet(FormSet):
    """The form of the account on the page of its user. `editor` is the member of staff who saves
    both, `client` their client."""

    editor: Any = None
    client = Client()
    stored: Person | None = None
    is_new = False

    def clean(self) -> None:
        """Check both forms: that of the user may remove rights too, by `is_active` and
        `is_superuser`."""
        super().clean()
        self.is_new = self.instance._state.adding
        # Read the row, not the forms: a request without these forms would bypass the check.
        self.stored = lookup.find_by_pk(self.instance.pk)
        # A user from before the service was installed may have no account.
        stored = self.stored or super_admins.without_account(self.instance.pk)
        if stored and not authority.may_change(self.editor, stored):
            raise ValidationError(_("Only a superuser may change a super admin."))
        email = email_of(self.instance)
        former_email = self.stored.email if self.stored else ""
        # An unchanged address is not checked.
        if email and email != former_email and not identifiers.is_new_email(email):
            rule = of_field(str(_("E-mail address")), [identifiers.NEW_EMAIL_RULE])
            raise ValidationError(translated(rule))
        values = {host().email: email, host().username: username_of(self.instance)}
        if errors_of := claim_errors(self.instance.pk, values):
            raise ValidationError([*errors_of.values()])
        # After this change the user is no active super admin.
        if self.stored and not super_admins.is_active_super_admin(self._person(self.stored)):
            _require_another(self.instance.pk)

    def save(self, commit: bool = True) -> list[Account]:
        saved: list[Account] = super().save(commit)
        actor = {"by": self.editor, "client": self.client}
        if commit and self.is_new:
            create_and_delete.record_creation(lookup.get_person(self.instance), **actor)
        elif commit and self.stored:
            changed = [form for form in self.forms if form.has_changed()]
            fields = {name for form in changed for name in form.changed_data}
            change_in_admin(self._person(self.stored), self.stored, fields, **actor)
        return saved

    def save_existing(self, form: Any, obj: Account, commit: bool = True) -> Account:
        account: Account = form.save(commit=False)
        return account  # `save` stores it, and records all changes as one event

    def _person(self, stored: Person) -> Person:
        """The user with the values of both forms."""
        accounts = [form.instance for form in self.forms if form.instance.pk]
        return Person(self.instance, accounts[0] if accounts else stored.account)


class UniqueIdentifiers:
    """Mixin of a form of the host's user model: refuses identifiers of other users."""

    if TYPE_CHECKING:
        instance: Any
        fields: dict[str, forms.Field]
        cleaned_data: dict[str, Any]
        add_error: Any

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()  # type: ignore[misc]
        if cleaned is not None:
            self.cleaned_data = cleaned
        values = {name: self.cleaned_data.get(name) for name in self.fields}
        for name, error in claim_errors(self.instance.pk, values).items():
            self.add_error(name, error)
        return self.cleaned_data


def with_unique_identifiers(form: Any) -> Any:
    """A subclass of a form of the host's user model that refuses identifiers of other users."""
    return type(form)(form.__name__, (UniqueIdentifiers, form), {})


def claim_errors(pk: Any, values: Mapping[str, Any]) -> dict[str, str]:
    """An error for each value that another user claims, by the host's field.

    `pk` is the user who gets the values. Django's own check compares exact texts only, and no
    addresses. An address that two users claim may find neither of them, so staff could take the
    login of a superuser away by giving the address to an ordinary user. A value whose key does not
    change is not checked: two existing users may share it already, and must stay editable.
    """
    kinds = {host().email: EMAIL, host().username: USERNAME}
    kind_of_field = {field: kind for field, kind in kinds.items() if field and values.get(field)}
    if not kind_of_field:
        return {}
    rows = host().model._base_manager.using(databases.primary())
    stored = rows.filter(pk=pk).values(*kind_of_field).first() or {}
    keys = {field: (kind, _key(kind, values[field])) for field, kind in kind_of_field.items()}
    changed = {
        field: (kind, key)
        for field, (kind, key) in keys.items()
        if key != _key(kind, stored.get(field) or "")
    }
    if not changed:
        return {}
    # The two changed keys; None for one that did not change.
    _kind, email = changed.get(host().email, (EMAIL, None))
    _kind, username = changed.get(host().username, (USERNAME, None))
    # By the name itself, users who have no account yet are found too.
    name = str(values[host().username]) if username else ""
    claimed = lookup.claimed_keys(email=email, username=username, phone=None, name=name, but_of=pk)
    return {field: _TAKEN[kind] for field, (kind, key) in changed.items() if key in claimed}


def _key(kind: Identifier, value: Any) -> str:
    return kind.key(str(value)[: identifiers.EMAIL_LENGTH])  # as much as an account copies
