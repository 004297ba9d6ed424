"""The form by which staff change an account, on its own page or on the page of its user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.db import transaction

from authservice.core.models import Account
from authservice.core.staff import authority, create_user, super_admins
from authservice.core.staff.update_user import change_in_admin
from authservice.core.users import identifiers, lookup
from authservice.core.users.person import Person, email_of
from authservice.core.users.user_model import host
from authservice.kernel import databases, errors
from authservice.kernel.client import Client
from authservice.kernel.phrases import admin_text as _
from authservice.kernel.phrases import of_field, translated

if TYPE_CHECKING:
    Form = forms.ModelForm[Account]
    FormSet = forms.BaseInlineFormSet[Account, Any, Form]
else:
    Form, FormSet = forms.ModelForm, forms.BaseInlineFormSet

_FIELDS = ("name", "first_name", "last_name", "phone_number", "avatar", "active", "is_super_admin")


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
        others = Account.objects.exclude(pk=self.instance.pk)
        if key and others.filter(phone_key=key).exists():
            raise ValidationError(_("Another account has this number."))
        self.instance.phone_key = key
        return phone

    def clean_avatar(self) -> str:
        avatar: str = self.cleaned_data["avatar"]
        if avatar:
            URLValidator(schemes=["http", "https"])(avatar)
        return avatar


def _require_another(pk: Any) -> None:
    # Django admin validates and saves in one transaction, so the rows locked here stay locked.
    with transaction.atomic(using=databases.primary()):
        try:
            super_admins.lock_user(pk, losing=True)
        except errors.LastSuperAdmin as wrong:
            raise ValidationError(wrong.text) from wrong


class AccountFormSet(FormSet):
    """The account on the page of its user; `editor` saves both, and `client` is their client."""

    editor: Any = None
    client = Client()
    stored: Person | None = None
    is_new = False

    def clean(self) -> None:
        """The form of the user may remove rights too, by `is_active` and `is_superuser`."""
        super().clean()
        self.is_new = self.instance._state.adding
        # Read the row, not the forms: a request without these forms would bypass the check.
        self.stored = lookup.find_by_pk(self.instance.pk)
        stored = self.stored or super_admins.without_account(self.instance.pk)
        if stored and not authority.may_change(self.editor, stored):
            raise ValidationError(_("Only a superuser may change a super admin."))
        self._require_email()
        if self.stored and not super_admins.is_active_super_admin(self._person(self.stored)):
            _require_another(self.instance.pk)

    def _require_email(self) -> None:
        """An unchanged address is not checked."""
        email, before = email_of(self.instance), self.stored.email if self.stored else ""
        if email and email != before and not identifiers.is_new_email(email):
            rule = of_field(str(_("E-mail address")), [identifiers.NEW_EMAIL_RULE])
            raise ValidationError(translated(rule))

    def save(self, commit: bool = True) -> list[Account]:
        saved: list[Account] = super().save(commit)
        if commit:
            self._follow(by=self.editor, client=self.client)
        return saved

    def _follow(self, **who: Any) -> None:
        if self.is_new:
            create_user.record(lookup.get_person(self.instance), **who)
        elif self.stored:
            changed = [form for form in self.forms if form.has_changed()]
            fields = {name for form in changed for name in form.changed_data}
            change_in_admin(self._person(self.stored), self.stored, fields, **who)

    def save_existing(self, form: Any, obj: Account, commit: bool = True) -> Account:
        account: Account = form.save(commit=False)
        return account  # `save` stores it and records all changes as one

    def _person(self, stored: Person) -> Person:
        """The user with the values of both forms."""
        kept = [form.instance for form in self.forms if form.instance.pk]
        return Person(self.instance, kept[0] if kept else stored.account)
