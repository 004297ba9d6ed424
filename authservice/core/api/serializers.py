"""Request bodies and queries of the routes of core and of the login module."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from rest_framework import serializers

from authservice.core.users import extra_fields, identifiers
from authservice.kernel import levels
from authservice.kernel.http.fields import (
    Choice,
    JsonObject,
    Password,
    SecretText,
    Text,
    TypedCode,
)
from authservice.kernel.languages import phrase

_TEN_YEARS = 10 * 365 * 24 * 3600  # seconds


class Email(Text):
    """An address as typed."""

    default_error_messages = dict.fromkeys(("email", "max_length"), identifiers.EMAIL_RULE)
    described: ClassVar = {"format": "email"}

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=identifiers.EMAIL_LENGTH, **options)

    def to_internal_value(self, data: str) -> str:
        text = super().to_internal_value(data)
        if not identifiers.is_email(text):
            self.fail("email")
        return text


class LinkToken(SecretText):
    """The token of a mailed link. What passes a link on may add the full stop of a sentence."""

    def to_internal_value(self, data: Any) -> str:
        return super().to_internal_value(data).rstrip(".")


class LinkEmail(Text):
    """The address in a mailed link, which the token proves. Some gateways decode `%2B`, so that its
    plus sign arrives as a space, which an address has only in quotes."""

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data).rstrip(".")
        return text if '"' in text else text.replace(" ", "+")


class Username(Text):
    default_error_messages: ClassVar = {"max_length": identifiers.USERNAME_RULE}
    described: ClassVar = {"pattern": f"^{identifiers.USERNAME_FORM.pattern}$"}

    def __init__(self, **options: Any) -> None:
        # The description has our own rule; the host project's user model may allow longer names.
        shown = {**self.described, "maxLength": 30}
        super().__init__(max_length=identifiers.USERNAME_LENGTH, described=shown, **options)

    def to_internal_value(self, data: str) -> str:
        text = super().to_internal_value(data)
        if not identifiers.is_username(text):
            raise serializers.ValidationError(identifiers.username_rule(), code="username")
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


# The pattern of addresses that Django's validator accepts, except for rare hosts such as 300.1.1.1.
# A label of a host has no white space, and of ASCII only A-Z, a-z, 0-9 and hyphens.
_LABEL = r"[^\x00-,./:-@\[-`{-\xa0]+"
_TOP_LEVEL = r"(?:[^\x00-,./0-9:-@\[-`{-\xa0]{2,63}|[Xx][Nn]--[A-Za-z0-9]{1,59})\.?"
_IP_ADDRESS = r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}|\[[0-9A-Fa-f:.]+\]"
_LOCALHOST = "[Ll][Oo][Cc][Aa][Ll][Hh][Oo][Ss][Tt]"
_HOST = rf"(?:(?:{_LABEL}\.)+{_TOP_LEVEL}|{_LOCALHOST}|{_IP_ADDRESS})(?::[0-9]{{1,5}})?"
_WEB_ADDRESS = (
    rf"^\s*[Hh][Tt][Tt][Pp][Ss]?://(?:[^\s:@/]+(?::[^\s:@/]*)?@)?{_HOST}(?:[/?#][^\s]*)?\s*$"
)


class Url(Text):
    """An absolute web address."""

    default_error_messages = {
        **dict.fromkeys(
            ("url", "max_length"), phrase("Must be a URL that starts with http:// or https://.")
        ),
        "host": phrase(
            "The host of the URL must be a domain name such as example.com, an IP address or"
            " localhost."
        ),
        "form": phrase("The URL must not contain spaces, and its port must be a number."),
    }
    described: ClassVar = {"format": "uri", "pattern": _WEB_ADDRESS}

    def to_internal_value(self, data: str) -> str:
        text = super().to_internal_value(data)
        if _is_web_address(text):
            return text
        start = re.match(r"(?i)https?://(?:[^/?#]*@)?(\[[^\]]*\]|[^/?#:]+)", text)
        if start is None:
            self.fail("url")
        # If the host alone is valid, the fault is in the rest of the URL.
        return self.fail("form" if _is_web_address(f"http://{start[1]}") else "host")


def _is_web_address(text: str) -> bool:
    try:
        URLValidator(schemes=["http", "https"])(text)
    except ValidationError:
        return False
    return True


class OwnRefreshToken(SecretText):
    """The refresh token of a signed-in client whose request continues its session: it is replaced.
    Optional: without it, the client keeps the one that it has."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=4096, required=False, allow_blank=True, default="", **options)


class SixDigits(TypedCode):
    # Of the text as it is sent. `TypedCode` turns digits of any script into 0 to 9 and removes the
    # rest before `to_internal_value`.
    described: ClassVar = {
        **TypedCode.described,
        "minLength": 6,
        "pattern": "^[^\\x00-\\x08\\x0e-\\x1f\\x7f-\\x84\\x86-\\x9fA-Za-z]*$",
    }
    default_error_messages = dict.fromkeys(
        ("digits", "max_length"), phrase("Must be exactly 6 digits.")
    )

    def to_internal_value(self, data: str) -> str:
        if len(data) != 6 or not set(data) <= set("0123456789"):
            self.fail("digits")
        return data


class SignupIn(serializers.Serializer[Any]):
    at_least_one: ClassVar = ("email", "username")
    # A function that returns the serializer of extra fields, for the API description.
    extra_serializer: ClassVar = staticmethod(extra_fields.signup_serializer)

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
    extra_serializer: ClassVar = staticmethod(extra_fields.profile_serializer)

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
    code = TypedCode(required=False, allow_blank=True, default="")


class ChangeEmailIn(OwnerIn):
    # For the API description, if the generated example would not be a useful one.
    example: ClassVar = {"email": "ann.lee@example.com", "password": "plum tart 42 windows"}

    email = Email()


class ChangeUsernameIn(OwnerIn):
    example: ClassVar = {"username": "ann.lee", "password": "plum tart 42 windows"}

    username = Username()


class AvailabilityIn(serializers.Serializer[Any]):
    exactly_one: ClassVar = ("email", "username", "phone")

    # `lookup.is_available` checks the format.
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

    token = LinkToken(max_length=512, required=False, allow_blank=True, default="")
    email = LinkEmail(max_length=254, required=False, allow_blank=True, default="")
    code = SixDigits(required=False, allow_blank=True, default="")
    phone = Phone(required=False, allow_blank=True, default="")
    new_password = Password()


class ResetLinkIn(serializers.Serializer[Any]):
    """The query parameters of a mailed link."""

    token = LinkToken(max_length=512)
    email = LinkEmail(max_length=254, required=False, allow_blank=True, default="")


class EmailIn(serializers.Serializer[Any]):
    email = Email()


class PhoneIn(serializers.Serializer[Any]):
    phone = Phone()


class VerifyEmailIn(serializers.Serializer[Any]):
    """The query parameters of a mailed link."""

    token = LinkToken(max_length=512)
    email = LinkEmail(max_length=254)


class TokenIn(serializers.Serializer[Any]):
    """The query parameter of a mailed link, and the field of the form on its page."""

    token = LinkToken(max_length=512)


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

    token = LinkToken(max_length=512)


class AcceptInvitationIn(serializers.Serializer[Any]):
    example: ClassVar = {
        "token": "Zx3vQ0mW7c1JtK9sYb5RfU2eHn8LpAi4dGo6TzXwEqM",
        "name": "Bob Day",
        "password": "plum tart 42 windows",
    }

    token = LinkToken(max_length=512)
    # Required if the address has no account; `acceptance` checks that.
    name = Text(max_length=255, required=False, allow_blank=True, default="")
    password = Password(required=False, allow_blank=True, default="")
    refresh_token = OwnRefreshToken()


class DeclineInvitationIn(serializers.Serializer[Any]):
    token = LinkToken(max_length=512)


class StepUpIn(serializers.Serializer[Any]):
    acr = Choice((levels.OWN, *levels.ORDER), required=False, default=levels.OWN)
    # Accepted, since it is in the refusal: a challenge always asks for a proof that is given now.
    max_age = serializers.IntegerField(
        required=False, allow_null=True, min_value=0, max_value=_TEN_YEARS
    )


class StepUpVerifyIn(serializers.Serializer[Any]):
    exactly_one = ("password", "code", "credential")

    temp_token = SecretText(max_length=512)
    password = Password(required=False, allow_blank=True, default="")
    code = TypedCode(required=False, allow_blank=True, default="")
    credential = JsonObject(required=False, default=dict)
