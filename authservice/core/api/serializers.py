"""Request bodies and queries of the routes of core and of the login module."""

from __future__ import annotations

from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from rest_framework import serializers

from authservice.core.users import further_fields, identifiers
from authservice.kernel.http.fields import Choice, Password, SecretText, Text
from authservice.kernel.phrases import phrase


class Email(Text):
    """An address as typed; blank counts as absent."""

    default_error_messages = dict.fromkeys(("email", "max_length"), identifiers.EMAIL_RULE)
    described: ClassVar = {"format": "email"}

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=identifiers.EMAIL_LENGTH, **options)

    def to_internal_value(self, data: str) -> str:
        text = super().to_internal_value(data)
        if not identifiers.is_email(text):
            self.fail("email")
        return text


class Username(Text):
    default_error_messages = dict.fromkeys(("username", "max_length"), identifiers.USERNAME_RULE)
    described: ClassVar = {"pattern": f"^{identifiers.USERNAME_FORM.pattern}$"}

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=30, **options)

    def to_internal_value(self, data: str) -> str:
        text = super().to_internal_value(data)
        if not identifiers.is_username(text):
            self.fail("username")
        return text


class Phone(Text):
    default_error_messages = dict.fromkeys(("phone", "max_length"), identifiers.PHONE_RULE)
    described: ClassVar = {"pattern": f"^{identifiers.PHONE_FORM.pattern}$"}

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=16, trim_whitespace=False, **options)

    def to_internal_value(self, data: str) -> str:
        text = super().to_internal_value(data)
        if not identifiers.is_phone(text):
            self.fail("phone")
        return text


class Url(Text):
    """An absolute web address."""

    default_error_messages = dict.fromkeys(
        ("url", "max_length"), phrase("Must be a URL that starts with http:// or https://.")
    )
    described: ClassVar = {"format": "uri", "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://"}

    def to_internal_value(self, data: str) -> str:
        text = super().to_internal_value(data)
        try:
            URLValidator(schemes=["http", "https"])(text)
        except ValidationError:
            self.fail("url")
        return text


class SixDigits(SecretText):
    default_error_messages = dict.fromkeys(
        ("digits", "max_length"), phrase("Must be exactly 6 digits.")
    )
    described: ClassVar = {"pattern": "^[0-9]{6}$"}

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=6, trim_whitespace=False, **options)

    def to_internal_value(self, data: str) -> str:
        # Not str.isdigit(): it also accepts the digits of other scripts.
        if len(data) != 6 or not set(data) <= set("0123456789"):
            self.fail("digits")
        return data


class SignupIn(serializers.Serializer[Any]):
    at_least_one: ClassVar = ("email", "username")
    # A function that returns the serializer of further fields, for the API description.
    further: ClassVar = staticmethod(further_fields.signup_serializer)

    email = Email(required=False, allow_blank=True, default="")
    username = Username(required=False, allow_blank=True, default="")
    password = Password()
    name = Text(max_length=255, required=False, allow_blank=True, default="")
    first_name = Text(max_length=150, required=False, allow_blank=True, default="")
    last_name = Text(max_length=150, required=False, allow_blank=True, default="")
    phone_number = Phone(required=False, allow_blank=True, default="")


class LoginIn(serializers.Serializer[Any]):
    exactly_one: ClassVar = ("email", "username")

    # The format is not checked here: an impossible address is simply unknown. The host project may
    # have issued usernames that are longer, or have characters that this service does not allow.
    email = Text(max_length=254, required=False, allow_blank=True, default="")
    username = Text(max_length=254, required=False, allow_blank=True, default="")
    password = Password()


class ProfileIn(serializers.Serializer[Any]):
    null_omits: ClassVar = True
    further: ClassVar = staticmethod(further_fields.profile_serializer)

    name = Text(max_length=255, required=False, allow_blank=True)
    phone = Phone(required=False, allow_blank=True)
    avatar = Url(max_length=2048, required=False, allow_blank=True)
    # The current password, as a proof; it is not changed here.
    password = Password(required=False, allow_blank=True)


class ChangePasswordIn(serializers.Serializer[Any]):
    old_password = Password()
    new_password = Password()


class OwnerIn(serializers.Serializer[Any]):
    """The proof that the owner of the account acts: the current password, and the current code if a
    second factor is enabled. Users without a password send none."""

    password = Password(required=False, allow_blank=True, default="")
    # The form is not checked here: a malformed code is a wrong code, and counts as an attempt.
    code = SecretText(max_length=64, required=False, allow_blank=True, default="")


class ChangeEmailIn(OwnerIn):
    # For the API description, if the generated example would not be a useful one.
    example: ClassVar = {"email": "ann.lee@example.com", "password": "plum tart 42 windows"}

    email = Email()


class ChangeUsernameIn(OwnerIn):
    example: ClassVar = {"username": "ann.lee", "password": "plum tart 42 windows"}

    username = Username()


class AvailabilityIn(serializers.Serializer[Any]):
    exactly_one: ClassVar = ("email", "username", "phone")

    # `availability` checks the format.
    email = Text(
        max_length=254, required=False, allow_blank=True, default="", described=Email.described
    )
    username = Text(
        max_length=254, required=False, allow_blank=True, default="", described=Username.described
    )
    phone = Text(
        max_length=254,
        trim_whitespace=False,
        required=False,
        allow_blank=True,
        default="",
        described=Phone.described,
    )


class ForgotPasswordIn(serializers.Serializer[Any]):
    exactly_one: ClassVar = ("email", "phone")

    email = Email(required=False, allow_blank=True, default="")
    phone = Phone(required=False, allow_blank=True, default="")


class ResetPasswordIn(serializers.Serializer[Any]):
    exactly_one: ClassVar = ("token", "code")
    # For the API description only; the view and `password_reset` require them.
    alongside: ClassVar = {"token": ("email",), "code": ("phone",)}

    token = SecretText(max_length=512, required=False, allow_blank=True, default="")
    email = Text(max_length=254, required=False, allow_blank=True, default="")
    code = SixDigits(required=False, allow_blank=True, default="")
    phone = Phone(required=False, allow_blank=True, default="")
    new_password = Password()


class ResetLinkIn(serializers.Serializer[Any]):
    """The query parameters of a mailed link."""

    token = SecretText(max_length=512)
    email = Text(max_length=254, required=False, allow_blank=True, default="")


class EmailIn(serializers.Serializer[Any]):
    email = Email()


class PhoneIn(serializers.Serializer[Any]):
    phone = Phone()


class VerifyEmailIn(serializers.Serializer[Any]):
    """The query parameters of a mailed link."""

    token = SecretText(max_length=512)
    email = Text(max_length=254)


class TokenIn(serializers.Serializer[Any]):
    """The query parameter of a mailed link, and the field of the form on its page."""

    token = SecretText(max_length=512)


class ConfirmEmailIn(VerifyEmailIn):
    """The form of the verification page; without a decision the address is confirmed."""

    decision = Choice(("confirm", "deny"), required=False, default="confirm")


class VerifyPhoneIn(serializers.Serializer[Any]):
    phone = Phone()
    code = SixDigits()


class RefreshIn(serializers.Serializer[Any]):
    # Our own tokens are short. Those of another package contain whatever claims a project added.
    refresh_token = SecretText(max_length=4096)


class InvitationLinkIn(serializers.Serializer[Any]):
    """The query parameter of a mailed link."""

    token = SecretText(max_length=512)


class AcceptInvitationIn(serializers.Serializer[Any]):
    example: ClassVar = {
        "token": "Zx3vQ0mW7c1JtK9sYb5RfU2eHn8LpAi4dGo6TzXwEqM",
        "name": "Bob Day",
        "password": "plum tart 42 windows",
    }

    token = SecretText(max_length=512)
    # Required if the address has no account; `acceptance` checks that.
    name = Text(max_length=255, required=False, allow_blank=True, default="")
    password = Password(required=False, allow_blank=True, default="")


class DeclineInvitationIn(serializers.Serializer[Any]):
    token = SecretText(max_length=512)
