"""The page of Django admin on which staff change their own password; `admin_site.protect` sets it.

It is Django's page with the limit of attempts, the password policy, the audit log and the notice of
the API. Without these rules an attacker with a stolen session of Django admin could try passwords
on that page without a limit, and a change would not end the sessions of the API.

`with_client` tells the record of passwords that staff set for others who the client is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from django.contrib.admin import forms as admin_forms
from django.contrib.auth.views import PasswordChangeView
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse

from authservice.core import errors
from authservice.core.credentials import lockout, passwords
from authservice.core.recovery import password_change, recent_proof
from authservice.core.staff import django_user_pages
from authservice.core.staff.admin_login import METHOD
from authservice.core.staff.login_form import as_secret, in_words
from authservice.core.users import creation, lookup
from authservice.core.users.creation import NewPassword
from authservice.core.users.person import Person
from authservice.core.users.user_model import host
from authservice.kernel import databases, events
from authservice.kernel.client import Client
from authservice.kernel.errors import Fault, ValidationFailed
from authservice.kernel.http.incoming import of_page
from authservice.kernel.languages import phrase, translated
from authservice.kernel.secret import Secret


class AdminPasswordChangeForm(admin_forms.AdminPasswordChangeForm):
    """Django's form; `user` is the signed-in user, `client` their client."""

    def __init__(self, user: Any, *args: Any, client: Client, **options: Any) -> None:
        super().__init__(user, *args, **options)
        # Read again: `user` is lazy, and may come from a replica.
        users = host().model._base_manager.using(databases.primary())
        self.person = lookup.get_person(users.get(pk=user.pk))
        self.client = client
        self.encoded = creation.unusable()  # until `clean` has hashed the new password

    def clean_old_password(self) -> Secret:  # type: ignore[override]
        old = as_secret(self.cleaned_data["old_password"])
        try:
            check_own_password(self.person, old, self.client)
        except errors.InvalidCredentials as error:
            raise self.get_incorrect_error() from error
        except Fault as error:
            raise ValidationError(in_words(error), code=error.code.lower()) from error
        return old

    def clean_new_password1(self) -> Secret:
        return as_secret(self.cleaned_data["new_password1"])

    def clean_new_password2(self) -> Secret:
        return as_secret(self.cleaned_data["new_password2"])

    def clean(self) -> dict[str, Any]:
        self.validate_passwords("new_password1", "new_password2")
        if self.errors:
            return self.cleaned_data
        new = self.cleaned_data["new_password1"]
        if new == self.cleaned_data["old_password"]:
            rule = phrase("Must differ from the old one.")
            self.add_error("new_password2", translated(rule))
            return self.cleaned_data
        try:
            self.encoded = passwords.hash_new_password(new, self.person.user, field="new_password2")
        except errors.InvalidPassword as error:
            self.add_error("new_password2", error.texts["new_password2"])
        except Fault as error:
            raise ValidationError(in_words(error), code=error.code.lower()) from error
        return self.cleaned_data

    def save(self, commit: bool = True) -> Any:
        """Raises `InvalidCredentials` if the password was changed in the meantime."""
        self.user = change_own_password(self.person, self.encoded, self.client).user
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
        except (errors.Conflict, ValidationFailed) as refusal:
            # The model or the table of the project refuses the row.
            form.add_error(None, in_words(refusal))
        return self.form_invalid(form)


def check_own_password(person: Person, old: Secret, client: Client) -> None:
    """Check the current password; raises the errors of `recent_proof.check_password`. The attempt
    shares the counter of the API."""
    try:
        recent_proof.check_password(person, old, client, method=METHOD)
    except errors.InvalidCredentials:
        events.record("auth.password.change_failed", person, client, method=METHOD)
        raise


def change_own_password(person: Person, encoded: NewPassword, client: Client) -> Person:
    """Store the hash of a new password, end all sessions of the API and revoke all device tokens;
    returns the current user.

    `person` is the user as they were when `check_own_password` accepted the old password.
    Raises `InvalidCredentials` if that password is no longer current.
    """
    with transaction.atomic(using=databases.primary()):
        locked = passwords.lock_users({person.user.pk})
        present = lookup.find_by_pk(person.user.pk) if locked else None
        if present is None or not present.active or present.password != person.password:
            raise errors.InvalidCredentials
        password_change.store(present, encoded, client, current_session=None, method=METHOD)
        lockout.revoke_devices(present)
    return present


def with_client(view: Callable[..., Any]) -> Callable[..., Any]:
    """A view of the site whose client is recorded with the passwords that staff set in it."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        with django_user_pages.acting_from(partial(of_page, request)):
            return view(request, *args, **kwargs)

    return wrapped
