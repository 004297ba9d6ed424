"""The login form of Django admin, which `admin_site.protect` sets. Public, for subclasses:

    admin.site.login_form = AdminAuthenticationForm
    admin.site.login_template = "authservice/core/admin-login.html"

The template is Django's with an extra field for the code of a second factor.
"""

from __future__ import annotations

import unicodedata
from typing import Any, cast

from django import forms
from django.contrib.admin import forms as admin_forms
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator
from django.http import HttpRequest

from authservice.core import errors
from authservice.core.staff import admin_login
from authservice.kernel import clock
from authservice.kernel.errors import Fault
from authservice.kernel.http.fields import TOO_MANY_MARKS, too_many_marks
from authservice.kernel.http.incoming import of_page
from authservice.kernel.interfaces import SecondFactor
from authservice.kernel.languages import admin_count, phrase, translated
from authservice.kernel.languages import admin_text as _
from authservice.kernel.modules import plugs
from authservice.kernel.secret import Secret, typed_code

# In characters; the password also in bytes, see `as_secret`.
_LONGEST = {"username": 254, "password": 4096}


class AdminAuthenticationForm(admin_forms.AdminAuthenticationForm):
    """Django's form with the limits, the audit log and the second factor of this service.

    It asks for a code if a module with second factors is installed. Override
    `confirm_login_allowed`, as in Django's form, to change who may log in.
    """

    code = forms.CharField(
        label=_("Code of your authenticator app, or a backup code"),
        required=False,
        max_length=64,
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code"}),
    )

    def __init__(self, request: Any = None, *args: Any, **options: Any) -> None:
        super().__init__(request, *args, **options)
        for name, longest in _LONGEST.items():
            self.fields[name].validators.append(MaxLengthValidator(longest))
        if not plugs(SecondFactor):
            del self.fields["code"]

    def clean_password(self) -> Secret:
        return as_secret(self.cleaned_data["password"])

    def clean_code(self) -> Secret:
        return Secret(typed_code(self.cleaned_data["code"]))

    @clock.once
    def clean(self) -> dict[str, Any]:
        values = self.cleaned_data
        if not (values.get("username") and values.get("password")) or "code" in self.errors:
            return values
        try:
            self.user_cache = admin_login.log_in(
                values["username"],
                values["password"],
                values.get("code", Secret("")),
                of_page(cast(HttpRequest, self.request)),
                allow=self.confirm_login_allowed,
            )
        except errors.InvalidCredentials as error:
            raise self.get_invalid_login_error() from error
        except errors.TwoFactorRefused as error:
            raise ValidationError({"code": _("This code is not valid.")}) from error
        except admin_login.CodeRequired as error:
            text = _("Enter a code of your authenticator app, or a backup code.")
            raise ValidationError({"code": text}) from error
        except admin_login.PasskeyRequired as error:
            text = _(
                "This page cannot ask for your passkey: sign in on the pages of the service, or set"
                " up an authenticator app."
            )
            raise ValidationError(text, code="passkey_required") from error
        except admin_login.SetUpRequired as error:
            text = _("You need a second factor here: sign in to the service, which sets one up.")
            raise ValidationError(text, code="second_factor_required") from error
        except Fault as error:
            raise ValidationError(in_words(error), code=error.code.lower()) from error
        return values


def as_secret(password: str) -> Secret:
    """The password of a form as the API reads it: NFC, without control characters, at most 4096
    bytes. Raises `ValidationError`."""
    if len(password.encode()) > _LONGEST["password"]:
        rule = phrase("Must not exceed %(count)d bytes.", count=_LONGEST["password"])
        raise ValidationError(translated(rule))
    if too_many_marks(password):
        raise ValidationError(translated(TOO_MANY_MARKS))
    if any(unicodedata.category(character) == "Cc" for character in password):
        raise ValidationError(_("Must not contain control characters."))
    return Secret(unicodedata.normalize("NFC", password))


def in_words(fault: Fault) -> str:
    """The message of a refusal, which says in how many minutes to try again."""
    seconds = int(fault.headers.get("Retry-After", 0))
    if not seconds:
        return fault.text
    minutes = -(-seconds // 60)
    return admin_count(
        "Too many attempts. Try again in %(count)d minute.",
        "Too many attempts. Try again in %(count)d minutes.",
        minutes,
    )
