"""The page of Django admin on which staff change their own password; `admin_site.protect` sets it.

It is Django's page with the attempts, the policy, the log and the notice of the API.
"""

from __future__ import annotations

from typing import Any

from django.contrib.admin import forms as admin_forms
from django.contrib.auth.views import PasswordChangeView
from django.core.exceptions import ValidationError
from django.http import HttpResponse

from authservice.core.credentials import passwords
from authservice.core.staff import own_password
from authservice.core.staff.login_form import as_secret, in_words
from authservice.core.users import lookup
from authservice.core.users.user_model import host
from authservice.kernel import databases, errors
from authservice.kernel.client import Client
from authservice.kernel.http.client import of_page
from authservice.kernel.phrases import phrase, translated
from authservice.kernel.secret import Secret


class AdminPasswordChangeForm(admin_forms.AdminPasswordChangeForm):
    """Django's form; `user` is the signed-in user, `client` their client."""

    def __init__(self, user: Any, *args: Any, client: Client, **options: Any) -> None:
        super().__init__(user, *args, **options)
        # Read again: `user` is lazy, and may come from a replica.
        users = host().model._base_manager.using(databases.primary())
        self.person = lookup.get_person(users.get(pk=user.pk))
        self.client = client
        self.encoded = ""

    def clean_old_password(self) -> Secret:  # type: ignore[override]
        old = as_secret(self.cleaned_data["old_password"])
        try:
            own_password.check(self.person, old, self.client)
        except errors.InvalidCredentials as wrong:
            raise self.get_incorrect_error() from wrong
        except errors.Fault as wrong:
            raise ValidationError(in_words(wrong), code=wrong.code.lower()) from wrong
        return old

    def clean_new_password1(self) -> Secret:
        return as_secret(self.cleaned_data["new_password1"])

    def clean_new_password2(self) -> Secret:
        return as_secret(self.cleaned_data["new_password2"])

    def clean(self) -> dict[str, Any]:
        self.validate_passwords("new_password1", "new_password2")
        if not self.errors:
            self._hash(self.cleaned_data["old_password"], self.cleaned_data["new_password1"])
        return self.cleaned_data

    def _hash(self, old: Secret, new: Secret) -> None:
        if new == old:
            rule = phrase("Must differ from the old one.")
            self.add_error("new_password2", translated(rule))
            return
        try:
            self.encoded = passwords.hash_new_password(new, self.person.user, field="new_password2")
        except errors.InvalidPassword as wrong:
            self.add_error("new_password2", wrong.texts["new_password2"])
        except errors.Fault as wrong:
            raise ValidationError(in_words(wrong), code=wrong.code.lower()) from wrong

    def save(self, commit: bool = True) -> Any:
        """Raises `InvalidCredentials` if the password was changed in the meantime."""
        self.user = own_password.change(self.person, self.encoded, self.client).user
        return self.user

    def get_incorrect_error(self) -> ValidationError:
        return ValidationError(self.error_messages["password_incorrect"], code="password_incorrect")


class AdminPasswordChangeView(PasswordChangeView):
    """Django's page with this form."""

    form_class = AdminPasswordChangeForm

    def get_form_kwargs(self) -> dict[str, Any]:
        return {**super().get_form_kwargs(), "client": of_page(self.request)}

    def form_valid(self, form: Any) -> HttpResponse:
        try:
            return super().form_valid(form)
        except errors.InvalidCredentials:
            form.add_error("old_password", form.get_incorrect_error())
            return self.form_invalid(form)
